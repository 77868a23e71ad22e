pub const VERSION: u16 = 1;
