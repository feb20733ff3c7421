//! The methods by their names.

use crate::method::Method;
use crate::space::Space;
use crate::spec::Spec;
use crate::{
    adagrad, confident, constrained, descent, dual_averaging, entropic, forward_backward,
    lazy_thesis, leader, least_squares, lms, moments, nag, projection, proportionate, truncated,
    unified,
};

/// The one list of methods.
pub(crate) fn build(spec: &Spec, space: &Space) -> Box<dyn Method> {
    match spec.text("algorithm").as_str() {
        "sgd" => descent::sgd(spec, space),
        "asgd" => descent::asgd(spec, space),
        "subgradient-l1" => descent::subgradient_l1(spec, space),
        "truncation" => truncated::truncation(spec, space),
        "truncated-gradient" => truncated::truncated_gradient(spec, space),
        "fobos" => forward_backward::fobos(spec, space),
        "lazy-fobos" => lazy_thesis::lazy_fobos(spec, space),
        "lazy-sparse" => lazy_thesis::lazy_sparse(spec, space),
        "lazy-splitting" => lazy_thesis::lazy_splitting(spec, space),
        "rda" => dual_averaging::rda(spec, space),
        "generalized-rda" => dual_averaging::generalized_rda(spec, space),
        "dual-averaging" => entropic::variant(spec, space)
            .unwrap_or_else(|| dual_averaging::dual_averaging(spec, space)),
        "ftl" => dual_averaging::ftl(spec, space),
        "adagrad-rda" => adagrad::adagrad_rda(spec, space),
        "adagrad-fobos" => adagrad::adagrad_fobos(spec, space),
        "ftrl" => leader::ftrl(spec, space),
        "comid" | "ftprl" | "aogd" | "unified-rda" => unified::unified(spec, space),
        "adam" => moments::adam(spec, space),
        "adadelta" => moments::adadelta(spec, space),
        "nag" => nag::nag(spec, space),
        "pa" => confident::pa(spec, space),
        "arow" => confident::arow(spec, space),
        "scw" => confident::soft_confidence(spec, space),
        "csgd" => constrained::csgd(spec, space),
        "ncsgd" => constrained::ncsgd(spec, space),
        "c-adaline" => constrained::c_adaline(spec, space),
        "lms" | "adaline" => lms::lms(spec, space),
        "rls" => least_squares::rls(spec, space),
        "pda" => projection::pda(spec, space),
        "apfbs" => projection::apfbs(spec, space),
        "papa" => projection::papa(spec, space),
        "apa" => projection::apa(spec, space),
        "nlms" => projection::nlms(spec, space),
        "pnlms" => proportionate::pnlms(spec, space),
        "ipnlms" => proportionate::ipnlms(spec, space),
        other => panic!("unknown algorithm {other:?}"),
    }
}
