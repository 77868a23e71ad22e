//! Echo. It waits while output is stopped or its buffer is full (`echo_buf` of Linux's `n_tty`).

use super::discipline::LineDiscipline;
use box_abi::terminal::oflag;
use std::collections::VecDeque;

/// The bytes that Linux keeps at most; older ones are dropped.
const ECHO_CAPACITY: usize = 4096 - 288;

#[derive(Clone, Copy, Debug)]
enum EchoStep {
    Byte(u8),
    /// A control character, shown as `^X`.
    Control(u8),
    SetLineColumn,
    MoveBack,
    /// Goes back over a tab. The number of columns since the last tab, or since the line's start.
    EraseTab(u8, bool),
}

impl EchoStep {
    /// Returns the bytes that it takes in Linux's buffer.
    fn cost(self) -> usize {
        match self {
            EchoStep::Byte(0xff) => 2,
            EchoStep::Byte(_) => 1,
            EchoStep::Control(_) | EchoStep::SetLineColumn | EchoStep::MoveBack => 2,
            EchoStep::EraseTab(..) => 3,
        }
    }
}

/// Steps that are not yet done.
#[derive(Debug, Default)]
pub(super) struct EchoQueue {
    steps: VecDeque<EchoStep>,
    cost: usize,
}

impl EchoQueue {
    fn push(&mut self, step: EchoStep) {
        self.steps.push_back(step);
        self.cost += step.cost();
        while self.cost > ECHO_CAPACITY {
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some(step) = self.steps.pop_front() {
            self.cost -= step.cost();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.cost = 0;
    }

    pub(super) fn push_raw(&mut self, c: u8) {
        self.push(EchoStep::Byte(c));
    }

    pub(super) fn push_control(&mut self, c: u8) {
        self.push(EchoStep::Control(c));
    }

    pub(super) fn set_line_column(&mut self) {
        self.push(EchoStep::SetLineColumn);
    }

    pub(super) fn move_back(&mut self) {
        self.push(EchoStep::MoveBack);
    }

    pub(super) fn erase_tab(&mut self, columns: usize, after_tab: bool) {
        self.push(EchoStep::EraseTab((columns & 7) as u8, after_tab));
    }
}

impl LineDiscipline {
    /// Does the steps for which there is room (`__process_echoes`).
    pub(super) fn process_echo(&mut self) {
        while let Some(step) = self.echo.steps.front().copied() {
            if self.stopped || !self.echo_step(step) {
                return;
            }
            self.echo.pop();
        }
    }

    /// Does one step; returns false if there is no room.
    fn echo_step(&mut self, step: EchoStep) -> bool {
        match step {
            EchoStep::Byte(0xff) => {
                if self.out.room() == 0 {
                    return false;
                }
                self.out.push(0xff);
                self.out.column += 1;
            }
            EchoStep::Byte(c) if self.has_oflag(oflag::OPOST) => return self.put_char(c),
            EchoStep::Byte(c) => {
                if self.out.room() == 0 {
                    return false;
                }
                self.out.push(c);
            }
            EchoStep::Control(c) => {
                if self.out.room() < 2 {
                    return false;
                }
                self.out.push(b'^');
                self.out.push(c ^ 0o100);
                self.out.column += 2;
            }
            EchoStep::SetLineColumn => self.out.line_column = self.out.column,
            EchoStep::MoveBack => self.out.column = self.out.column.saturating_sub(1),
            EchoStep::EraseTab(columns, after_tab) => {
                let columns =
                    usize::from(columns) + if after_tab { 0 } else { self.out.line_column };
                let back = 8 - (columns & 7);
                if self.out.room() < back {
                    return false;
                }
                for _ in 0..back {
                    self.out.push(b'\x08');
                    self.out.column = self.out.column.saturating_sub(1);
                }
            }
        }
        true
    }
}
