/** Runs of the simulation, for the published package. */

export { ACTIONS } from '../actions.js';
export type { SimulatedApp, SimulatedMessage, SimulatedState, SimulatedWorld } from '../app.js';
export { FAULTS, SMALL_FAULTS, type Step as PlannedStep } from '../faults.js';
export { pageOf } from '../page.js';
export { shrink, testOf } from '../shrink.js';
export { plan, run } from '../simulate.js';
