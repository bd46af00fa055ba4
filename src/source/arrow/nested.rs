//! The texts of a row: in a column, in a struct, or in the elements of a list.

use super::text::TextColumn;
use crate::source::FieldPath;
use crate::source::fields::Step;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::DataType;

/// The texts of rows, any number in each.
#[derive(Debug)]
pub(super) enum Texts {
    Column(TextColumn),
    /// Those of a struct, of which some rows are null.
    Within(Option<NullBuffer>, Box<Texts>),
    /// Those of the elements of lists.
    Lists {
        nulls: Option<NullBuffer>,
        ends: Ends,
        elements: Box<Texts>,
    },
}

/// Where the elements of lists are.
#[derive(Debug)]
pub(super) enum Ends {
    Small(OffsetBuffer<i32>),
    Large(OffsetBuffer<i64>),
    Fixed(usize),
}

impl Texts {
    /// The texts that a path leads to.
    ///
    /// # Errors
    /// The type of what it leads to, which is no string.
    pub fn new(batch: &RecordBatch, path: &FieldPath) -> Result<Self, DataType> {
        let root = StructArray::from(batch.clone());
        Texts::of(&root, path.steps())
    }

    fn of(array: &dyn Array, steps: &[Step]) -> Result<Self, DataType> {
        let found = || array.data_type().clone();
        let Some((step, rest)) = steps.split_first() else {
            return TextColumn::new(array).map(Texts::Column).ok_or_else(found);
        };
        let nulls = array.nulls().cloned();
        let lists = |ends, elements: &ArrayRef| {
            let elements = Box::new(Texts::of(elements, rest)?);
            Ok(Texts::Lists { nulls: nulls.clone(), ends, elements })
        };
        match (step, array.data_type()) {
            (Step::Field(name), DataType::Struct(_)) => {
                let child = array.as_struct().column_by_name(name).ok_or_else(found)?;
                Ok(Texts::Within(nulls, Box::new(Texts::of(child, rest)?)))
            }
            (Step::Elements, DataType::List(_)) => {
                let array = array.as_list::<i32>();
                lists(Ends::Small(array.offsets().clone()), array.values())
            }
            (Step::Elements, DataType::LargeList(_)) => {
                let array = array.as_list::<i64>();
                lists(Ends::Large(array.offsets().clone()), array.values())
            }
            (Step::Elements, DataType::FixedSizeList(_, size)) => {
                lists(Ends::Fixed(usize::try_from(*size).unwrap_or_default()), array.as_fixed_size_list().values())
            }
            _ => Err(found()),
        }
    }

    /// Calls a function with each text of a row that is not null, in their order.
    pub fn visit<'t>(&'t self, row: usize, each: &mut dyn FnMut(&'t str)) {
        let is_valid = |nulls: &Option<NullBuffer>| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        match self {
            Texts::Column(texts) => texts.get(row).into_iter().for_each(each),
            Texts::Within(nulls, texts) if is_valid(nulls) => texts.visit(row, each),
            Texts::Lists { nulls, ends, elements } if is_valid(nulls) => {
                let range = match ends {
                    Ends::Small(ends) => ends[row] as usize..ends[row + 1] as usize,
                    Ends::Large(ends) => ends[row] as usize..ends[row + 1] as usize,
                    Ends::Fixed(size) => row * size..(row + 1) * size,
                };
                range.for_each(|element| elements.visit(element, each));
            }
            Texts::Within(..) | Texts::Lists { .. } => {}
        }
    }
}

/// Whether a path leads to a column, of any type.
pub(super) fn leads_to_a_column(batch: &RecordBatch, path: &FieldPath) -> bool {
    let schema = batch.schema();
    let mut fields = schema.fields().clone();
    let mut steps = path.steps().iter().peekable();
    while let Some(Step::Field(name)) = steps.next() {
        let Some((_, field)) = fields.find(name) else { return false };
        let mut kind = field.data_type();
        while let (
            Some(Step::Elements),
            DataType::List(of) | DataType::LargeList(of) | DataType::FixedSizeList(of, _),
        ) = (steps.peek(), kind)
        {
            steps.next();
            kind = of.data_type();
        }
        match kind {
            DataType::Struct(inner) => fields = inner.clone(),
            // What is left of the path is an error of its type.
            _ => return true,
        }
    }
    true
}

/// The column that a path of one value leads to.
pub(super) fn column(batch: &RecordBatch, path: &FieldPath) -> Option<ArrayRef> {
    let mut array: ArrayRef = std::sync::Arc::new(StructArray::from(batch.clone()));
    for step in path.steps() {
        let Step::Field(name) = step else { return None };
        let within = array.as_struct_opt()?;
        // A row of which the struct is null has no value there.
        let child = within.column_by_name(name)?;
        let nulls = NullBuffer::union(within.nulls(), child.logical_nulls().as_ref());
        array = match nulls {
            Some(nulls) if within.nulls().is_some() && !matches!(child.data_type(), DataType::Null) => {
                let data = child.to_data().into_builder().nulls(Some(nulls)).build().ok()?;
                arrow_array::make_array(data)
            }
            _ => child.clone(),
        };
    }
    Some(array)
}
