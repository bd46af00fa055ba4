//! The texts of a row: in a column, in a struct, or in the elements of a list.

use super::text::TextColumn;
use crate::source::FieldPath;
use crate::source::path::Step;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, new_empty_array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Schema};
use std::ops::Range;

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
        chosen: Chosen,
        elements: Box<Texts>,
    },
}

/// The elements of a list that a path leads to.
#[derive(Debug)]
pub(super) enum Chosen {
    All,
    /// With this number; a negative one counts from the end.
    At(i64),
    /// Those that have this text in a column of their struct.
    Where {
        nulls: Option<NullBuffer>,
        column: TextColumn,
        value: String,
    },
}

impl Chosen {
    /// # Errors
    /// The type of the column that the step names, which is no string.
    fn new(step: &Step, elements: &ArrayRef) -> Result<Self, DataType> {
        Ok(match step {
            Step::Element(number) => Chosen::At(*number),
            Step::Where { field, value } => {
                let structs = elements.as_struct_opt().ok_or_else(|| elements.data_type().clone())?;
                let column = structs.column_by_name(field).ok_or_else(|| elements.data_type().clone())?;
                let column = TextColumn::new(column).ok_or_else(|| column.data_type().clone())?;
                Chosen::Where { nulls: structs.nulls().cloned(), column, value: value.clone() }
            }
            Step::Elements | Step::Field(_) => Chosen::All,
        })
    }

    /// Calls a function with each chosen element of a list, which is in this range.
    fn each(&self, list: Range<usize>, each: impl FnMut(usize)) {
        match self {
            Chosen::All => list.for_each(each),
            Chosen::At(number) => {
                let at = match usize::try_from(*number) {
                    Ok(number) => list.start.checked_add(number),
                    Err(_) => usize::try_from(number.unsigned_abs()).ok().and_then(|back| list.end.checked_sub(back)),
                };
                at.filter(|at| list.contains(at)).into_iter().for_each(each);
            }
            Chosen::Where { nulls, column, value } => {
                let is_valid = |element: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(element));
                list.filter(|&element| is_valid(element) && column.get(element) == Some(value)).for_each(each);
            }
        }
    }
}

/// Where the elements of lists are.
#[derive(Debug)]
pub(super) enum Ends {
    Small(OffsetBuffer<i32>),
    Large(OffsetBuffer<i64>),
    Fixed(usize),
}

impl Texts {
    /// The texts that a path leads to, which was resolved.
    ///
    /// # Errors
    /// The type of what it leads to, which is no string.
    pub fn new(batch: &RecordBatch, resolved: &FieldPath) -> Result<Self, DataType> {
        Texts::of(&StructArray::from(batch.clone()), resolved.steps())
    }

    fn of(array: &dyn Array, steps: &[Step]) -> Result<Self, DataType> {
        let found = || array.data_type().clone();
        let Some((step, rest)) = steps.split_first() else {
            return TextColumn::new(array).map(Texts::Column).ok_or_else(found);
        };
        let nulls = array.nulls().cloned();
        let is_into_list = !matches!(step, Step::Field(_));
        let lists = |ends, elements: &ArrayRef| {
            let chosen = Chosen::new(step, elements)?;
            let elements = Box::new(Texts::of(elements, rest)?);
            Ok(Texts::Lists { nulls: nulls.clone(), ends, chosen, elements })
        };
        match (step, array.data_type()) {
            (Step::Field(name), DataType::Struct(_)) => {
                let child = array.as_struct().column_by_name(name).ok_or_else(found)?;
                Ok(Texts::Within(nulls, Box::new(Texts::of(child, rest)?)))
            }
            (_, DataType::List(_)) if is_into_list => {
                let array = array.as_list::<i32>();
                lists(Ends::Small(array.offsets().clone()), array.values())
            }
            (_, DataType::LargeList(_)) if is_into_list => {
                let array = array.as_list::<i64>();
                lists(Ends::Large(array.offsets().clone()), array.values())
            }
            (_, DataType::FixedSizeList(_, size)) if is_into_list => {
                lists(Ends::Fixed(usize::try_from(*size).unwrap_or_default()), array.as_fixed_size_list().values())
            }
            _ => Err(found()),
        }
    }

    /// Calls a function with each text of a row that is not null, in their order, and its row in the innermost column.
    pub fn visit<'t>(&'t self, row: usize, each: &mut dyn FnMut(usize, &'t str)) {
        let is_valid = |nulls: &Option<NullBuffer>| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        match self {
            Texts::Column(texts) => texts.get(row).into_iter().for_each(|text| each(row, text)),
            Texts::Within(nulls, texts) if is_valid(nulls) => texts.visit(row, each),
            Texts::Lists { nulls, ends, chosen, elements } if is_valid(nulls) => {
                let range = match ends {
                    Ends::Small(ends) => ends[row] as usize..ends[row + 1] as usize,
                    Ends::Large(ends) => ends[row] as usize..ends[row + 1] as usize,
                    Ends::Fixed(size) => row * size..(row + 1) * size,
                };
                chosen.each(range, |element| elements.visit(element, each));
            }
            Texts::Within(..) | Texts::Lists { .. } => {}
        }
    }
}

/// Why a path leads to no column.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// A column or field on the way is not there.
    Field,
    /// The field that chooses elements, of this name, is no string in any of them.
    Choice(String),
}

/// The path by which a column is read, of any type: brackets that choose elements are part of names if there is such a column.
pub(super) fn resolve(schema: &Schema, path: &FieldPath) -> Result<FieldPath, Missing> {
    match path.literal().filter(|literal| has_names(schema, literal.steps())) {
        Some(literal) => Ok(literal),
        None => leads_through(schema, path.steps()).map(|()| path.clone()),
    }
}

/// Whether all names of these steps are there.
fn has_names(schema: &Schema, steps: &[Step]) -> bool {
    let mut fields = Some(schema.fields().clone());
    let mut kind = DataType::Null;
    for step in steps {
        kind = match (step, &kind) {
            (Step::Field(name), _) => match fields.as_ref().and_then(|fields| fields.find(name)) {
                Some((_, field)) => field.data_type().clone(),
                None => return false,
            },
            (_, DataType::List(of) | DataType::LargeList(of) | DataType::FixedSizeList(of, _)) => {
                of.data_type().clone()
            }
            // What is left of the path is an error of its type.
            _ => return true,
        };
        fields = if let DataType::Struct(inner) = &kind { Some(inner.clone()) } else { None };
    }
    true
}

fn leads_through(schema: &Schema, steps: &[Step]) -> Result<(), Missing> {
    let mut fields = schema.fields().clone();
    let mut steps = steps.iter().peekable();
    while let Some(Step::Field(name)) = steps.next() {
        let Some((_, field)) = fields.find(name) else { return Err(Missing::Field) };
        let mut kind = field.data_type();
        while let (
            Some(step @ (Step::Elements | Step::Element(_) | Step::Where { .. })),
            DataType::List(of) | DataType::LargeList(of) | DataType::FixedSizeList(of, _),
        ) = (steps.peek(), kind)
        {
            // Of a list whose elements never have a string in the field, none is chosen.
            if let Step::Where { field, .. } = step {
                let DataType::Struct(inner) = of.data_type() else { return Err(Missing::Field) };
                let (_, key) = inner.find(field).ok_or(Missing::Field)?;
                if TextColumn::new(&new_empty_array(key.data_type())).is_none() {
                    return Err(Missing::Choice(field.clone()));
                }
            }
            steps.next();
            kind = of.data_type();
        }
        match kind {
            DataType::Struct(inner) => fields = inner.clone(),
            // What is left of the path is an error of its type.
            _ => return Ok(()),
        }
    }
    Ok(())
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
