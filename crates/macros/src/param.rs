//! `#[param(..)]`: a documented parameter.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Attribute, Error, Expr, ExprRange, Ident, LitStr, PatType, RangeLimits, Result, Type};

use crate::port::ident_of;

pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) variable: bool,
    name: Option<String>,
    aliases: Vec<LitStr>,
    doc: String,
    unit: String,
    range: Option<(Expr, Expr)>,
    choice: Vec<LitStr>,
    default: Option<Expr>,
}

/// The graph's view of a Rust type.
enum Family {
    Bool,
    Int,
    Float,
    Text,
    Floats,
}

impl Param {
    pub(crate) fn read(argument: &PatType) -> Result<Option<Param>> {
        let Some(attribute) = argument.attrs.iter().find(|attribute| attribute.path().is_ident("param")) else {
            return Ok(None);
        };
        let mut param = Param {
            ident: ident_of(argument)?,
            ty: (*argument.ty).clone(),
            variable: false,
            name: None,
            aliases: Vec::new(),
            doc: docs(&argument.attrs),
            unit: String::new(),
            range: None,
            choice: Vec::new(),
            default: None,
        };
        if matches!(attribute.meta, syn::Meta::List(_)) {
            attribute.parse_nested_meta(|meta| param.setting(&meta))?;
        }
        param.family()?;
        Ok(Some(param))
    }

    fn setting(&mut self, meta: &syn::meta::ParseNestedMeta<'_>) -> Result<()> {
        if meta.path.is_ident("variable") {
            self.variable = true;
        } else if meta.path.is_ident("name") {
            self.name = Some(meta.value()?.parse::<LitStr>()?.value());
        } else if meta.path.is_ident("alias") {
            self.aliases.push(meta.value()?.parse()?);
        } else if meta.path.is_ident("unit") {
            self.unit = meta.value()?.parse::<LitStr>()?.value();
        } else if meta.path.is_ident("default") {
            self.default = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("range") {
            let range: ExprRange = meta.value()?.parse()?;
            match (range.start, range.limits, range.end) {
                (Some(start), RangeLimits::Closed(_), Some(end)) => self.range = Some((*start, *end)),
                _ => return Err(meta.error("a range has both ends: `range = 1..=10`")),
            }
        } else if meta.path.is_ident("choice") {
            let list: syn::ExprArray = meta.value()?.parse()?;
            for word in list.elems {
                self.choice.push(syn::parse2(quote!(#word))?);
            }
        } else {
            return Err(meta.error("a parameter has name, alias, unit, range, choice, default, variable"));
        }
        Ok(())
    }

    fn family(&self) -> Result<Family> {
        let ty = &self.ty;
        let text = quote!(#ty).to_string().replace(' ', "");
        Ok(match text.as_str() {
            "bool" => Family::Bool,
            "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" => Family::Int,
            "f32" | "f64" => Family::Float,
            "String" => Family::Text,
            "Vec<f64>" => Family::Floats,
            _ => {
                let what = "a parameter is a bool, an integer, a float, a String or a Vec<f64>";
                return Err(Error::new_spanned(ty, what));
            }
        })
    }

    /// The declaration, as an expression.
    pub(crate) fn spec(&self) -> Result<TokenStream> {
        let (ty, doc, unit, aliases) = (&self.ty, &self.doc, &self.unit, &self.aliases);
        let name = self.name();
        let domain = match (self.family()?, &self.range) {
            (Family::Bool, _) => quote!(Domain::Bool),
            (Family::Int, Some((min, max))) => quote!(Domain::Int { min: (#min) as i64, max: (#max) as i64 }),
            // No file can state the part of a u64's upper half that an i64 can't hold.
            (Family::Int, None) => quote!(Domain::Int {
                min: i64::try_from(<#ty>::MIN).unwrap_or(i64::MIN),
                max: i64::try_from(<#ty>::MAX).unwrap_or(i64::MAX),
            }),
            (Family::Float, Some((min, max))) => quote!(Domain::Float { min: (#min) as f64, max: (#max) as f64 }),
            (Family::Float, None) => quote!(Domain::Float { min: -1e30, max: 1e30 }),
            (Family::Text, _) if self.choice.is_empty() => quote!(Domain::Text),
            (Family::Text, _) => {
                let words = &self.choice;
                quote!(Domain::Choice { of: vec![#(#words.to_owned()),*] })
            }
            (Family::Floats, _) => quote!(Domain::Floats { max_len: ::takt_runtime::graph::limits::LIST }),
        };
        let default = match (&self.default, self.family()?) {
            (None, _) => None,
            (Some(x), Family::Int) => Some(quote!(.default((#x) as i64))),
            (Some(x), Family::Float) => Some(quote!(.default((#x) as f64))),
            (Some(x), _) => Some(quote!(.default(#x))),
        };
        let variable = self.variable.then(|| quote!(.variable()));
        Ok(quote!(ParamSpec::new(#name, #domain, #doc).unit(#unit) #(.alias(#aliases))* #default #variable))
    }

    /// As waveforms call it.
    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.ident.unraw().to_string())
    }

    /// `let name: type = ..` from complete, checked parameters.
    pub(crate) fn binding(&self) -> Result<TokenStream> {
        let (ident, ty) = (&self.ident, &self.ty);
        let name = self.name();
        let value = match self.family()? {
            Family::Bool => quote!(params.bool(#name).unwrap_or_default()),
            Family::Int => quote!(params.int(#name).and_then(|n| <#ty>::try_from(n).ok()).unwrap_or_default()),
            Family::Float => quote!(params.float(#name).unwrap_or_default() as #ty),
            Family::Text => quote!(params.text(#name).unwrap_or_default().to_owned()),
            Family::Floats => quote!(params.floats(#name).unwrap_or_default().to_vec()),
        };
        Ok(quote!(let #ident: #ty = #value;))
    }

    /// `value` (a `Scalar`) as this parameter's type; `None` where it fits into no word.
    pub(crate) fn set_value(&self) -> Result<Option<TokenStream>> {
        let ty = &self.ty;
        Ok(match self.family()? {
            Family::Bool => Some(quote!(value.as_i64() != 0)),
            Family::Int => Some(quote!(<#ty>::try_from(value.as_i64()).unwrap_or_default())),
            Family::Float => Some(quote!(value.as_f64() as #ty)),
            Family::Text | Family::Floats => None,
        })
    }

    /// An expression of this parameter's type as a `Scalar`.
    pub(crate) fn to_scalar(&self, value: &TokenStream) -> Result<Option<TokenStream>> {
        Ok(match self.family()? {
            Family::Bool => Some(quote!(Scalar::Bool(#value))),
            Family::Int => Some(quote!(Scalar::Int(i64::try_from(#value).unwrap_or(i64::MAX)))),
            Family::Float => Some(quote!(Scalar::Float(f64::from(#value)))),
            Family::Text | Family::Floats => None,
        })
    }
}

/// The text of doc comments.
pub(crate) fn docs(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect::<Vec<_>>().join(" ").trim().to_owned()
}
