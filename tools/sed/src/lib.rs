//! box-sed
