//! Anchors that are gathered of places, of which most are alone.

/// One anchor, or several. A list is made only for several: of a text that repeats itself, as many of these are there at once as it has
/// places.
pub(super) enum Gathered {
    One(u32),
    #[expect(clippy::box_collection, reason = "it takes a third of the memory where there is one anchor")]
    Several(Box<Vec<u32>>),
}

impl Gathered {
    /// All of them.
    pub fn all(&self) -> &[u32] {
        match self {
            Gathered::One(anchor) => std::slice::from_ref(anchor),
            Gathered::Several(anchors) => anchors,
        }
    }

    /// The list of them, which is made if it is not there.
    pub fn list(&mut self) -> &mut Vec<u32> {
        if let &mut Gathered::One(anchor) = self {
            *self = Gathered::Several(Box::new(vec![anchor]));
        }
        match self {
            Gathered::Several(anchors) => anchors,
            Gathered::One(_) => unreachable!("the list was made"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_or_several() {
        let mut anchors = Gathered::One(7);
        assert_eq!((anchors.all(), size_of::<Gathered>()), (&[7][..], 16));
        anchors.list().push(8);
        assert_eq!(anchors.all(), [7, 8]);
        anchors.list().clear();
        assert!(anchors.all().is_empty());
    }
}
