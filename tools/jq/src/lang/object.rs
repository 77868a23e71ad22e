//! Object construction.

use super::ast::JqExpr;
use super::lexer::JqToken;
use super::parser::{JqParser, Result, join_stages};
use crate::value::{Value, shown_value};

impl JqParser<'_> {
    /// Parses an object, after its `{`.
    pub fn parse_object(&mut self) -> Result<JqExpr> {
        self.expect_operator("{")?;
        let mut pairs = Vec::new();
        // A comma may stand after the last pair.
        while !self.is_op("}")? {
            pairs.push(self.parse_pair()?);
            if !self.take_op(",")? {
                break;
            }
        }
        self.expect_operator("}")?;
        Ok(JqExpr::Object(pairs))
    }

    fn parse_pair(&mut self) -> Result<(JqExpr, JqExpr)> {
        let at = self.token_start()?;
        let field = |key: Value| {
            let get =
                JqExpr::Index(Box::new(JqExpr::Id), Box::new(JqExpr::Const(key.clone())), false);
            (JqExpr::Const(key), get)
        };
        match self.peek_token()? {
            JqToken::Ident(name) => {
                self.next()?;
                if !self.take_op(":")? {
                    return Ok(field(name.into()));
                }
                Ok((JqExpr::Const(name.into()), self.object_value()?))
            }
            JqToken::Op("$") => {
                self.next()?;
                let name = self.any_name()?;
                if name == "__loc__" {
                    return Ok((JqExpr::Const(name.into()), self.location_expr(at)));
                }
                let value = JqExpr::Var(name.to_string(), at);
                if self.take_op(":")? {
                    return Ok((value, self.object_value()?));
                }
                Ok((JqExpr::Const(name.into()), value))
            }
            JqToken::Quote | JqToken::Format(_) => self.string_pair(field),
            JqToken::Op("(") => {
                self.next()?;
                let key = self.parse_pipe()?;
                self.expect_operator(")")?;
                self.check_key(&key, at)?;
                self.expect_operator(":")?;
                Ok((key, self.object_value()?))
            }
            _ => Err(self.unexpected_token()),
        }
    }

    fn string_pair(
        &mut self,
        field: impl Fn(Value) -> (JqExpr, JqExpr),
    ) -> Result<(JqExpr, JqExpr)> {
        let format = match self.peek_token()? {
            JqToken::Format(f) => {
                self.next()?;
                Some(f)
            }
            _ => None,
        };
        if self.peek_token()? != JqToken::Quote {
            return Err(self.unexpected_token());
        }
        let from = self.at;
        let key = self.parse_string(format)?;
        if self.take_op(":")? {
            return Ok((key, self.object_value()?));
        }
        if let JqExpr::Const(k) = key {
            return Ok(field(k));
        }
        // The key is needed twice, and parsing it again is simpler than sharing trees.
        let after = self.at;
        self.at = from;
        let again = self.parse_string(format)?;
        self.at = after;
        Ok((key, JqExpr::Index(Box::new(JqExpr::Id), Box::new(again), false)))
    }

    /// Refuses a constant key that is not a string.
    pub fn check_key(&self, key: &JqExpr, at: usize) -> Result<()> {
        match key.constant() {
            None | Some(Value::Str(_)) => Ok(()),
            Some(v) => Err(self.error_at(
                format!("Cannot use {} ({}) as object key", v.type_name(), shown_value(&v, 14)),
                at,
            )),
        }
    }

    /// Parses a value in an object: operators, joined by `|`, because commas separate the fields.
    fn object_value(&mut self) -> Result<JqExpr> {
        self.parse_nested(|p| {
            let mut stages = vec![p.parse_binary(2)?];
            while p.take_op("|")? {
                stages.push(p.parse_binary(2)?);
            }
            Ok(join_stages(stages))
        })
    }
}
