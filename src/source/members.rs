//! Where members of gzip begin in the bytes that they are decompressed to.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Where members of gzip begin in the bytes that are decompressed: the last ones, without the first of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Members(Rc<RefCell<VecDeque<u64>>>);

#[cfg_attr(not(feature = "warc"), allow(dead_code))]
impl Members {
    /// The most that are held. They are searched in the bytes that were decompressed last.
    const MOST: usize = 1 << 16;

    /// The next one begins here.
    pub fn push(&self, start: u64) {
        let mut starts = self.0.borrow_mut();
        if starts.back() == Some(&start) {
            return;
        }
        if starts.len() == Self::MOST {
            starts.pop_front();
        }
        starts.push_back(start);
    }

    /// The first at this position or after it. Forgets those before.
    pub fn first_from(&self, position: u64) -> Option<u64> {
        let mut starts = self.0.borrow_mut();
        while starts.pop_front_if(|start| *start < position).is_some() {}
        starts.front().copied()
    }
}
