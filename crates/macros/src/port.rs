//! `In<T>`, `Out<T>`, `InOut<T>` and their `#[port(..)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{BinOp, Error, Expr, GenericArgument, Ident, LitStr, Pat, PatType, PathArguments, Result, Type};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
    InOut,
}

pub(crate) struct Port {
    pub(crate) way: Way,
    pub(crate) item: Type,
    name: Option<String>,
    ident: Ident,
    /// `exactly`, `multiple_of`, `fixed`, `up_to`, `ratio` or `length`, with its expression.
    length: Option<(String, Expr)>,
    history: Option<Expr>,
}

pub(crate) fn ident_of(argument: &PatType) -> Result<Ident> {
    match &*argument.pat {
        Pat::Ident(pattern) => Ok(pattern.ident.clone()),
        other => Err(Error::new_spanned(other, "an argument of a component has a plain name")),
    }
}

impl Port {
    /// The port an argument is, if its type is one.
    pub(crate) fn read(argument: &PatType) -> Result<Option<Port>> {
        let Some((way, item)) = way_of(&argument.ty) else { return Ok(None) };
        let mut port = Port { way, item, name: None, ident: ident_of(argument)?, length: None, history: None };
        for attribute in argument.attrs.iter().filter(|attribute| attribute.path().is_ident("port")) {
            attribute.parse_nested_meta(|meta| port.setting(&meta))?;
        }
        Ok(Some(port))
    }

    /// Inputs have different names, and outputs have.
    pub(crate) fn one_name_each<'a>(ports: impl Iterator<Item = &'a Port> + Clone) -> Result<()> {
        for (not, side) in [(Way::Out, "inputs"), (Way::In, "outputs")] {
            let mut names = std::collections::BTreeSet::new();
            for port in ports.clone().filter(|port| port.way != not) {
                let name = match (port.way, &port.name) {
                    (Way::InOut, None) => side.trim_end_matches("puts").to_owned(),
                    _ => port.name(),
                };
                if !names.insert(name.clone()) {
                    let what = format!("two {side} are called `{name}`: #[port(name = \"..\")] gives one another name");
                    return Err(Error::new_spanned(&port.ident, what));
                }
            }
        }
        Ok(())
    }

    fn setting(&mut self, meta: &syn::meta::ParseNestedMeta<'_>) -> Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match (key.as_str(), self.way) {
            ("name", _) => self.name = Some(meta.value()?.parse::<LitStr>()?.value()),
            ("history", Way::In) => self.history = Some(meta.value()?.parse()?),
            ("exactly" | "multiple_of", Way::In) | ("fixed" | "up_to" | "ratio" | "length", Way::Out) => {
                self.length = Some((key, meta.value()?.parse()?));
            }
            (_, Way::In) => return Err(meta.error("an input has name, history, exactly, multiple_of")),
            (_, Way::Out) => return Err(meta.error("an output has name, fixed, up_to, ratio, length")),
            (_, Way::InOut) => return Err(meta.error("a port changed in place has a name")),
        }
        Ok(())
    }

    /// As waveforms call it.
    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| match self.ident.unraw().to_string().as_str() {
            "input" => "in".to_owned(),
            "output" => "out".to_owned(),
            other => other.to_owned(),
        })
    }

    /// `.input_of(..)` and the like, to be appended to a `Shape`.
    pub(crate) fn shape(&self, has_inputs: bool) -> Result<TokenStream> {
        let (name, item) = (self.name(), &self.item);
        let item = quote!(<#item as Sample>::ITEM);
        Ok(match self.way {
            Way::InOut if self.name.is_some() => quote!(.in_out(#name, #name, #item)),
            Way::InOut => quote!(.in_out("in", "out", #item)),
            Way::In => {
                let accepts = match &self.length {
                    Some((key, n)) if key == "exactly" => quote!(Accepts::Exactly((#n) as u32)),
                    Some((_, n)) => quote!(Accepts::MultipleOf((#n) as u32)),
                    None => quote!(Accepts::Any),
                };
                let history = self.history.as_ref().map_or(quote!(0), |n| quote!((#n) as u32));
                quote!(.input_of(#name, #item, #accepts, #history))
            }
            Way::Out => {
                let length = self.out_length(has_inputs)?;
                quote!(.output(#name, #item, #length))
            }
        })
    }

    fn out_length(&self, has_inputs: bool) -> Result<TokenStream> {
        Ok(match &self.length {
            Some((key, n)) if key == "fixed" => quote!(Length::Fixed((#n) as u32)),
            Some((key, n)) if key == "up_to" => quote!(Length::UpTo((#n) as u32)),
            Some((key, length)) if key == "length" => quote!(#length),
            Some((_, ratio)) => {
                let (num, den) = quotient(ratio)?;
                quote!(Length::Ratio { num: (#num) as u32, den: (#den) as u32, of: 0 })
            }
            None if has_inputs => quote!(Length::Ratio { num: 1, den: 1, of: 0 }),
            None => {
                let what = "without an input, an output says how long it is: #[port(fixed = items)]";
                return Err(Error::new_spanned(&self.ident, what));
            }
        })
    }

    /// The type as it is in the emitted function.
    pub(crate) fn rust_type(&self) -> Type {
        let item = &self.item;
        match self.way {
            Way::In => syn::parse_quote!(::takt_runtime::In<'_, #item>),
            Way::Out | Way::InOut => syn::parse_quote!(::takt_runtime::Out<'_, #item>),
        }
    }
}

fn quotient(ratio: &Expr) -> Result<(TokenStream, TokenStream)> {
    match ratio {
        Expr::Binary(binary) if matches!(binary.op, BinOp::Div(_)) => {
            let (num, den) = (&binary.left, &binary.right);
            Ok((quote!(#num), quote!(#den)))
        }
        whole => Ok((quote!(#whole), quote!(1))),
    }
}

fn way_of(ty: &Type) -> Option<(Way, Type)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let way = match last.ident.to_string().as_str() {
        "In" => Way::In,
        "Out" => Way::Out,
        "InOut" => Way::InOut,
        _ => return None,
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(item) => Some((way, item.clone())),
        _ => None,
    })
}
