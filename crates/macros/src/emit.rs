//! The code that makes a type a component and registers it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Result;
use syn::ext::IdentExt;

use crate::param::Param;
use crate::port::{Port, Way};

/// An argument of the function that is called each slot.
pub(crate) enum Argument {
    Port(Box<Port>),
    Value(TokenStream),
}

/// How one is made.
pub(crate) enum Maker {
    /// Its fields are the parameters.
    Fields,
    /// `new` takes them.
    New { fallible: bool },
}

pub(crate) struct Component<'a> {
    pub(crate) name: String,
    pub(crate) summary: String,
    pub(crate) holder: TokenStream,
    pub(crate) stateless: bool,
    pub(crate) call: TokenStream,
    pub(crate) maker: Maker,
    /// Methods of the trait that the type has itself.
    pub(crate) methods: Vec<&'static str>,
    pub(crate) params: &'a [Param],
    pub(crate) arguments: &'a [Argument],
}

pub(crate) fn component(component: &Component<'_>) -> Result<TokenStream> {
    let Component { name, summary, holder, stateless, params, .. } = component;
    let tick = tick(component);
    let variables = variables(component)?;
    let delegated = component.methods.iter().map(|name| delegate(name));
    let specs = params.iter().map(Param::spec).collect::<Result<Vec<_>>>()?;
    let bindings = params.iter().map(Param::binding).collect::<Result<Vec<_>>>()?;
    let idents: Vec<_> = params.iter().map(|param| &param.ident).collect();
    let ports = component.arguments.iter().filter_map(|argument| match argument {
        Argument::Port(port) => Some(port),
        Argument::Value(_) => None,
    });
    let has_inputs = ports.clone().any(|port| port.way != Way::Out);
    Port::one_name_each(ports.clone().map(|port| &**port))?;
    let shape = ports.map(|port| port.shape(has_inputs)).collect::<Result<Vec<_>>>()?;
    let made = match &component.maker {
        Maker::Fields => quote!(#holder { #(#idents),* }),
        Maker::New { fallible: false } => quote!(<#holder>::new(#(#idents),*)),
        Maker::New { fallible: true } => quote!(<#holder>::new(#(#idents),*)?),
    };
    let used = (!idents.is_empty()).then(|| quote!(let _ = (#(&#idents),*);));
    Ok(quote! {
        impl ::takt_runtime::Component for #holder {
            #tick
            #variables
            #(#delegated)*
        }
        const _: () = {
            use ::takt_runtime::{MakeError, Registration, Sample};
            use ::takt_runtime::graph::{Accepts, Domain, Kind, Length, ParamError, ParamSpec, Params, Shape};
            #[allow(unused_imports, reason = "not every component needs all")]
            use {Accepts as _, Domain as _, Length as _, ParamSpec as _, Sample as _};

            fn kind() -> Kind {
                let mut kind = Kind::new(#name, #summary);
                kind.stateless = #stateless;
                kind #(.param(#specs))*
            }
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, reason = "expressions of any integer type")]
            fn shape(params: &Params) -> ::core::result::Result<Shape, ParamError> {
                let _ = params;
                #(#bindings)*
                #used
                Ok(Shape::new() #(#shape)*)
            }
            #[allow(clippy::cast_lossless, clippy::unnecessary_cast, reason = "parameters of any type")]
            fn make(
                params: &Params,
            ) -> ::core::result::Result<::std::boxed::Box<dyn ::takt_runtime::Component>, MakeError> {
                let _ = params;
                #(#bindings)*
                Ok(::std::boxed::Box::new(#made))
            }
            ::takt_runtime::inventory::submit! { Registration { kind, shape, make } }
        };
    })
}

/// `tick`: ports in the order of the shape, arguments in the order of the function.
fn tick(component: &Component<'_>) -> TokenStream {
    let (mut inputs, mut outputs) = (0_usize, Vec::new());
    let mut bindings = Vec::new();
    let mut values = Vec::new();
    for (n, argument) in component.arguments.iter().enumerate() {
        let port = match argument {
            Argument::Value(value) => {
                values.push(value.clone());
                continue;
            }
            Argument::Port(port) => port,
        };
        let (value, item) = (format_ident!("port_{n}"), &port.item);
        if port.way != Way::Out {
            if port.way == Way::In {
                bindings.push(quote!(let #value = inputs[#inputs].read::<#item>();));
            }
            inputs += 1;
        }
        if port.way != Way::In {
            let place = format_ident!("output_{}", outputs.len());
            bindings.push(quote!(let #value = #place.write::<#item>();));
            outputs.push(place);
        }
        values.push(quote!(#value));
    }
    let call = &component.call;
    let receiver = matches!(component.maker, Maker::New { .. }).then(|| quote!(self,));
    quote! {
        #[inline]
        fn tick(&mut self, io: &mut ::takt_runtime::Io<'_>) {
            let slot = io.slot;
            let (inputs, outputs) = (&*io.inputs, &mut *io.outputs);
            let _ = (slot, inputs);
            let [#(#outputs),*] = outputs else { return };
            #(#bindings)*
            #call(#receiver #(#values),*);
        }
    }
}

fn variables(component: &Component<'_>) -> Result<TokenStream> {
    let (mut sets, mut gets) = (Vec::new(), Vec::new());
    for (n, param) in component.params.iter().enumerate().filter(|(_, param)| param.variable) {
        let ident = &param.ident;
        let (set, get) = match component.maker {
            Maker::Fields => (None, quote!(::core::clone::Clone::clone(&self.#ident))),
            Maker::New { .. } => (Some(format_ident!("set_{}", ident.unraw())), quote!(Self::#ident(self))),
        };
        let (Some(value), Some(scalar)) = (param.set_value()?, param.to_scalar(&get)?) else {
            return Err(syn::Error::new_spanned(ident, "a variable is a bool or a number"));
        };
        sets.push(match set {
            Some(set) => quote!(#n => Self::#set(self, #value),),
            None => quote!(#n => self.#ident = #value,),
        });
        gets.push(quote!(#n => Some(#scalar),));
    }
    if sets.is_empty() {
        return Ok(TokenStream::new());
    }
    Ok(quote! {
        #[allow(clippy::cast_lossless, clippy::unnecessary_cast, reason = "parameters of any type")]
        fn set(&mut self, param: usize, value: ::takt_runtime::Scalar) {
            match param {
                #(#sets)*
                _ => {}
            }
        }
        fn get(&self, param: usize) -> ::core::option::Option<::takt_runtime::Scalar> {
            use ::takt_runtime::Scalar;
            match param {
                #(#gets)*
                _ => None,
            }
        }
    })
}

fn delegate(method: &str) -> TokenStream {
    match method {
        "prepare" => quote! {
            fn prepare(
                &mut self,
                ports: &::takt_runtime::Prepared<'_>,
            ) -> ::core::result::Result<(), ::std::string::String> {
                Self::prepare(self, ports)
            }
        },
        "message" => quote!(
            fn message(&mut self, message: &::takt_runtime::Message) {
                Self::message(self, message);
            }
        ),
        "degrade" => quote!(
            fn degrade(&mut self) {
                Self::degrade(self);
            }
        ),
        _ => quote! {
            fn results(&self) -> ::std::vec::Vec<(&'static str, ::takt_runtime::graph::Value)> { Self::results(self) }
        },
    }
}
