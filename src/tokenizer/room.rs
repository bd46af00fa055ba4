//! Buffers that grow within a bound. Room is only checked where they would grow.

/// Makes room for more bytes of text, if that takes at most what is `left`, in bytes. Returns whether there is room.
#[inline]
pub(super) fn reserve_text(text: &mut String, more: usize, left: impl FnOnce() -> usize) -> bool {
    let unused = text.capacity() - text.len();
    unused >= more || {
        let amount = amount(text.len(), more, left().saturating_add(unused));
        amount.into_iter().for_each(|amount| text.reserve_exact(amount));
        amount.is_some()
    }
}

/// The same for more elements.
#[inline]
pub(super) fn reserve<T>(vec: &mut Vec<T>, more: usize, left: impl FnOnce() -> usize) -> bool {
    let unused = vec.capacity() - vec.len();
    unused >= more || {
        let amount = amount(vec.len(), more, (left() / size_of::<T>()).saturating_add(unused));
        amount.into_iter().for_each(|amount| vec.reserve_exact(amount));
        amount.is_some()
    }
}

/// The number of elements to reserve for `more`: as many as there are, unless the room is less. `None` if there is no room.
#[cold]
fn amount(length: usize, more: usize, room: usize) -> Option<usize> {
    (more <= room).then(|| more.max(length.min(room)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_double_as_far_as_there_is_room() {
        let (mut text, mut numbers) = (String::new(), Vec::<u64>::new());
        assert!(reserve_text(&mut text, 10, || 10) && reserve(&mut numbers, 10, || 80));
        assert_eq!((text.capacity(), numbers.capacity()), (10, 10));
        text.push_str("ten bytes.");
        numbers.extend(0..10);
        assert!(!reserve_text(&mut text, 3, || 2) && !reserve(&mut numbers, 3, || 23));
        assert!(reserve_text(&mut text, 3, || 5) && reserve(&mut numbers, 3, || 40));
        assert_eq!((text.capacity(), numbers.capacity()), (15, 15));
        assert!(reserve_text(&mut text, 5, || 0) && reserve(&mut numbers, 5, || 0));
        assert!(reserve_text(&mut text, 6, || usize::MAX) && reserve(&mut numbers, 6, || usize::MAX));
        assert_eq!((text.capacity(), numbers.capacity()), (20, 20));
    }
}
