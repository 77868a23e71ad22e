//! Object construction.

use super::ast::JqExpr;
use super::lexer::JqToken;
use super::parser::{JqParser, Result, joined};
use crate::value::{Value, cut};

impl JqParser<'_> {
    /// An object, behind its `{`.
    pub fn object(&mut self) -> Result<JqExpr> {
        self.expect("{")?;
        let mut pairs = Vec::new();
        // A comma may stand behind the last pair.
        while !self.is_op("}")? {
            pairs.push(self.pair()?);
            if !self.take_op(",")? {
                break;
            }
        }
        self.expect("}")?;
        Ok(JqExpr::Object(pairs))
    }

    fn pair(&mut self) -> Result<(JqExpr, JqExpr)> {
        let at = self.start()?;
        let field = |key: Value| {
            let get =
                JqExpr::Index(Box::new(JqExpr::Id), Box::new(JqExpr::Const(key.clone())), false);
            (JqExpr::Const(key), get)
        };
        match self.peek()? {
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
                    return Ok((JqExpr::Const(name.into()), self.location(at)));
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
                let key = self.pipe()?;
                self.expect(")")?;
                self.check_key(&key, at)?;
                self.expect(":")?;
                Ok((key, self.object_value()?))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn string_pair(
        &mut self,
        field: impl Fn(Value) -> (JqExpr, JqExpr),
    ) -> Result<(JqExpr, JqExpr)> {
        let format = match self.peek()? {
            JqToken::Format(f) => {
                self.next()?;
                Some(f)
            }
            _ => None,
        };
        if self.peek()? != JqToken::Quote {
            return Err(self.unexpected());
        }
        let from = self.at;
        let key = self.string(format)?;
        if self.take_op(":")? {
            return Ok((key, self.object_value()?));
        }
        if let JqExpr::Const(k) = key {
            return Ok(field(k));
        }
        // The key is needed twice; reading it again is simpler than sharing trees.
        let after = self.at;
        self.at = from;
        let again = self.string(format)?;
        self.at = after;
        Ok((key, JqExpr::Index(Box::new(JqExpr::Id), Box::new(again), false)))
    }

    /// Refuses a constant key that is no string.
    pub fn check_key(&self, key: &JqExpr, at: usize) -> Result<()> {
        match key.constant() {
            None | Some(Value::Str(_)) => Ok(()),
            Some(v) => Err(self.error_at(
                format!("Cannot use {} ({}) as object key", v.type_name(), cut(&v, 14)),
                at,
            )),
        }
    }

    /// A value in an object: operators, joined by `|`; commas separate fields.
    fn object_value(&mut self) -> Result<JqExpr> {
        self.nested(|p| {
            let mut stages = vec![p.binary(2)?];
            while p.take_op("|")? {
                stages.push(p.binary(2)?);
            }
            Ok(joined(stages))
        })
    }
}
