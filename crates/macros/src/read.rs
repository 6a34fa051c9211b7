//! From the annotated item to what it means.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{
    Error, FnArg, ImplItem, ImplItemFn, Item, ItemFn, ItemImpl, LitStr, PatType, Result, ReturnType, Signature, Type,
};

use crate::emit::{self, Argument, Component, Maker};
use crate::param::{Param, docs};
use crate::port::{Port, ident_of};

pub(crate) fn component(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let name = name_of(attribute)?;
    match syn::parse2(item)? {
        Item::Fn(function) => of_function(name, function),
        Item::Impl(block) => of_impl(name, block),
        other => Err(Error::new_spanned(other, "a component is a function, or an `impl` block with `new` and `tick`")),
    }
}

fn name_of(attribute: TokenStream) -> Result<Option<String>> {
    let mut name = None;
    let parser = syn::meta::parser(|meta| {
        if !meta.path.is_ident("name") {
            return Err(meta.error("a component has a name: #[component(name = \"..\")]"));
        }
        name = Some(meta.value()?.parse::<LitStr>()?.value());
        Ok(())
    });
    syn::parse::Parser::parse2(parser, attribute)?;
    Ok(name)
}

fn of_function(name: Option<String>, mut function: ItemFn) -> Result<TokenStream> {
    plain(&function.sig)?;
    let ident = function.sig.ident.clone();
    let mut params = Vec::new();
    let mut arguments = Vec::new();
    for argument in &mut function.sig.inputs {
        let FnArg::Typed(argument) = argument else { continue };
        match Param::read(argument)? {
            Some(param) => {
                let field = param.ident.clone();
                argument.attrs.clear();
                arguments.push(Argument::Value(quote!(::core::clone::Clone::clone(&self.#field))));
                params.push(param);
            }
            None => arguments.push(port_or_slot(argument)?),
        }
    }
    let holder = format_ident!("{}Component", pascal(&ident.unraw().to_string()));
    let (fields, types): (Vec<_>, Vec<_>) = params.iter().map(|param| (&param.ident, &param.ty)).unzip();
    let component = Component {
        name: name.unwrap_or_else(|| ident.unraw().to_string().replace('_', "-")),
        summary: docs(&function.attrs),
        holder: quote!(#holder),
        stateless: true,
        call: quote!(#ident),
        maker: Maker::Fields,
        methods: Vec::new(),
        params: &params,
        arguments: &arguments,
    };
    let registered = emit::component(&component)?;
    Ok(quote! {
        #function
        struct #holder { #(#fields: #types),* }
        #registered
    })
}

fn of_impl(name: Option<String>, mut block: ItemImpl) -> Result<TokenStream> {
    let holder = (*block.self_ty).clone();
    let summary = docs(&block.attrs);
    let mut params = Vec::new();
    let mut fallible = false;
    let new = method(&mut block, "new")?;
    for argument in &mut new.sig.inputs {
        let FnArg::Typed(argument) = argument else { continue };
        let what = "an argument of `new` is a parameter: #[param(..)]";
        let param = Param::read(argument)?.ok_or_else(|| Error::new_spanned(&*argument, what))?;
        argument.attrs.clear();
        params.push(param);
    }
    if let ReturnType::Type(_, ty) = &new.sig.output {
        fallible = quote!(#ty).to_string().contains("Result");
    }
    if let Some(first) = block.generics.params.first() {
        return Err(Error::new_spanned(first, "a component has no type parameters: one for each item type"));
    }
    let tick = method(&mut block, "tick")?;
    plain(&tick.sig)?;
    if !matches!(tick.sig.inputs.first(), Some(FnArg::Receiver(_))) {
        return Err(Error::new_spanned(&tick.sig.ident, "`tick` has a receiver: `&mut self`"));
    }
    let mut arguments = Vec::new();
    for argument in &mut tick.sig.inputs {
        if let FnArg::Typed(argument) = argument {
            arguments.push(port_or_slot(argument)?);
        }
    }
    let methods = ["prepare", "message", "degrade", "results"];
    let has = |name: &&str| block.items.iter().any(|item| matches!(item, ImplItem::Fn(f) if f.sig.ident == *name));
    let component = Component {
        name: name.unwrap_or_else(|| kebab(&type_name(&holder))),
        summary,
        holder: quote!(#holder),
        stateless: false,
        call: quote!(Self::tick),
        maker: Maker::New { fallible },
        methods: methods.into_iter().filter(has).collect(),
        params: &params,
        arguments: &arguments,
    };
    let registered = emit::component(&component)?;
    Ok(quote!(#block #registered))
}

/// The function that is called each slot is a plain one that returns nothing.
fn plain(signature: &Signature) -> Result<()> {
    if let Some(first) = signature.generics.params.first() {
        return Err(Error::new_spanned(first, "a component has no type parameters: one for each item type"));
    }
    if signature.asyncness.is_some() {
        return Err(Error::new_spanned(signature.asyncness, "a component can't wait: no `async`"));
    }
    match &signature.output {
        ReturnType::Default => Ok(()),
        ReturnType::Type(_, ty) => Err(Error::new_spanned(ty, "a component returns nothing: it fills its outputs")),
    }
}

fn method<'a>(block: &'a mut ItemImpl, name: &str) -> Result<&'a mut ImplItemFn> {
    let missing = Error::new_spanned(&block.self_ty, format!("the `impl` block of a component has a `{name}`"));
    let found = block.items.iter_mut().find_map(|item| match item {
        ImplItem::Fn(function) if function.sig.ident == name => Some(function),
        _ => None,
    });
    found.ok_or(missing)
}

/// Reads an argument that is no parameter, and makes it plain Rust.
fn port_or_slot(argument: &mut PatType) -> Result<Argument> {
    if let Some(port) = Port::read(argument)? {
        argument.attrs.clear();
        *argument.ty = port.rust_type();
        return Ok(Argument::Port(Box::new(port)));
    }
    let ty = &argument.ty;
    if ident_of(argument)? == "slot" && quote!(#ty).to_string() == "u64" {
        return Ok(Argument::Value(quote!(slot)));
    }
    if quote!(#ty).to_string().replace(' ', "").contains("Outbox") {
        *argument.ty = syn::parse_quote!(&mut ::takt_runtime::Outbox<'_>);
        return Ok(Argument::Value(quote!(&mut io.outbox)));
    }
    let what = "an argument is a port (In<T>, Out<T>, InOut<T>), #[param(..)], `slot: u64`, or `outbox: &mut Outbox`";
    Err(Error::new_spanned(argument, what))
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.unraw().to_string()).unwrap_or_default(),
        _ => String::new(),
    }
}

fn kebab(pascal: &str) -> String {
    let mut kebab = String::new();
    for (n, c) in pascal.chars().enumerate() {
        if c.is_uppercase() && n > 0 {
            kebab.push('-');
        }
        kebab.extend(c.to_lowercase());
    }
    kebab
}

fn pascal(snake: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    snake.split('_').map(word).collect()
}
