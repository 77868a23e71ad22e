//! box-jq
