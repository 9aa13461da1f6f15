//! Types and shapes of a graph, with a look at the size of every result before the runtime computes it.
//!
//! tract infers the shape of a node's results from those of its inputs, and where the values of all inputs
//! are known, it computes the results at once: `ConstantOfShape` of a product of constants may then be larger
//! than memory. The same inference is done here first, node by node, and a result that would be too large is
//! refused before it is computed. What is left for tract afterwards are the values that have been computed
//! here.

use std::collections::BTreeSet;
use tract_hir::infer::{Factoid, InferenceFact, InferenceModel, InferenceOp};
use tract_hir::internal::bail;
use tract_hir::prelude::{DatumType, OutletId, TDim, TVec, Tensor, TractResult};
use tract_hir::tract_core::optim::CONST_FOLD_MEM_BUDGET;

/// The memory that a result of known inputs may take. tract leaves large inputs alone, so that weights are
/// not among them: these are shapes, masks and scales.
const MOST_BYTES: u64 = 64 << 20;

/// Operators whose results are never larger than their inputs, of a size that depends on values.
const SELECTING: [&str; 2] = ["Compress", "NonZero"];

/// Infers all there is to infer, or finds a result that would be too large.
pub(super) fn analyse(model: &mut InferenceModel) -> TractResult<()> {
    loop {
        let mut is_changed = false;
        let mut waiting: BTreeSet<usize> = (0..model.nodes().len()).collect();
        while let Some(node) = waiting.pop_first() {
            for outlet in refine(model, node)? {
                is_changed = true;
                let readers = &model.node(outlet.node).outputs[outlet.slot].successors;
                waiting.extend(readers.iter().map(|reader| reader.node));
                waiting.insert(outlet.node);
            }
            waiting.remove(&node);
        }
        // Once more, until tract itself would find nothing else.
        if !is_changed {
            return Ok(());
        }
    }
}

/// Infers what one node says of its inputs and outputs; gives those of which more is known than before.
fn refine(model: &mut InferenceModel, id: usize) -> TractResult<Vec<OutletId>> {
    let node = model.node(id);
    let mut op = node.op.clone();
    let (inputs, outputs) = model.node_facts(id)?;
    let observed: TVec<InferenceFact> = {
        let outlets = op.observe_outlets(model, node)?;
        outlets.into_iter().map(|outlet| model.outlet_fact(outlet).cloned()).collect::<TractResult<_>>()?
    };
    let observed = || observed.iter().collect::<TVec<_>>();
    if op.name() == "Range" && inputs.iter().all(|input| input.value.is_concrete()) {
        // tract's own rule goes wrong where the step is negative or zero.
        check_bytes("Range", range_bytes(&inputs)?)?;
    }
    let (expected_inputs, expected, _) =
        op.clone().infer_facts(inputs.clone(), outputs.clone(), observed())?;
    check(&*op, &expected_inputs, &expected)?;
    let (new_inputs, new_outputs, _) = op.infer(inputs, outputs, observed())?;
    let own = (0..new_outputs.len()).map(|slot| OutletId::new(id, slot));
    let outlets: Vec<OutletId> = node.inputs.iter().copied().chain(own).collect();
    let mut changed = Vec::new();
    for (outlet, new) in outlets.into_iter().zip(new_inputs.iter().chain(&new_outputs)) {
        let old = model.outlet_fact(outlet)?;
        let unified = old.unify(new)?;
        if unified != *old {
            model.set_outlet_fact(outlet, unified)?;
            changed.push(outlet);
        }
    }
    model.node_mut(id).op = op;
    Ok(changed)
}

/// Refuses results that tract would compute now and that are too large, or whose size cannot be told.
fn check(op: &dyn InferenceOp, inputs: &[InferenceFact], outputs: &[InferenceFact]) -> TractResult<()> {
    let is_small =
        |value: &Tensor| (value.len() * value.datum_type().size_of()) as u64 <= CONST_FOLD_MEM_BUDGET;
    let is_known = |input: &InferenceFact| input.value.concretize().is_some_and(|value| is_small(&value));
    if inputs.is_empty() || !inputs.iter().all(is_known) {
        return Ok(());
    }
    let name = op.name();
    for output in outputs {
        match bytes_of(output) {
            Some(bytes) => check_bytes(&name, bytes)?,
            None if SELECTING.contains(&&*name) => {}
            None => bail!("the size of the result of {name} cannot be foreseen"),
        }
    }
    Ok(())
}

fn check_bytes(name: &str, bytes: f64) -> TractResult<()> {
    if bytes > MOST_BYTES as f64 {
        bail!("{name} of constants would take {bytes:.3e} bytes, and {MOST_BYTES} are allowed");
    }
    Ok(())
}

/// The memory of a tensor; `None` if it is not known. A float, since hostile sizes overflow whole numbers.
fn bytes_of(fact: &InferenceFact) -> Option<f64> {
    let axes = fact.shape.concretize()?;
    // The largest of the common types where it is not known yet.
    let width = fact.datum_type.concretize().map_or(8, |kind: DatumType| kind.size_of());
    let axis = |bytes: f64, axis: &TDim| Some(bytes * axis.to_i64().ok()? as f64);
    axes.iter().try_fold(width as f64, axis)
}

/// The memory of the numbers from the first to the second in steps of the third.
fn range_bytes(inputs: &[&InferenceFact]) -> TractResult<f64> {
    let &[start, limit, step] = inputs else { bail!("Range of {} numbers, and not of three", inputs.len()) };
    let number = |input: &InferenceFact| match input.value.concretize() {
        Some(value) => value.cast_to_scalar::<f64>(),
        None => bail!("Range of unknown numbers"),
    };
    let (distance, step) = (number(limit)? - number(start)?, number(step)?);
    // Without a step there is no end; NaN is as bad.
    let is_endless = step == 0.0 || (distance / step).is_nan();
    Ok(if is_endless { f64::INFINITY } else { (distance / step).max(0.0) * 8.0 })
}
