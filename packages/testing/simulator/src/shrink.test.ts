import type { Step, StepKind } from './faults.js';
import { shrink, testOf } from './shrink.js';
import type { RunOptions } from './simulate.js';
import { Violation } from './violation.js';

const step = (kind: StepKind, at: number): Step => ({ at, kind, by: 1, a: 0.25, b: 0.5 });

/** Fails at the first send after somebody has left. */
async function play({ steps }: RunOptions) {
  const left = steps.findIndex(({ kind }) => kind === 'leave');
  const failing = left === -1 ? -1 : steps.findIndex(({ kind }, index) => index > left && kind === 'send');
  return failing === -1
    ? { steps: steps.length, violation: null }
    : { steps: failing + 1, violation: new Violation('exactly once', 'a message is missing') };
}

describe('shrink', () => {
  it('keeps only the steps without which the invariant holds', async () => {
    const kinds: StepKind[] = ['send', 'read', 'leave', 'react', 'crash', 'send', 'search', 'send'];
    const steps = kinds.map(step);
    const kept = await shrink({ seed: 1, people: 2, steps, invariant: 'exactly once' }, play);
    expect(kept).toEqual([steps[2], steps[5]]);
  });

  it('prints a test that repeats the steps', () => {
    const steps = [step('leave', 3)];
    const code = testOf({ seed: 9, people: 2, steps, invariant: 'exactly once' });
    expect(code).toContain('it("keeps the invariant \\"exactly once\\" (seed 9)", async () => {');
    expect(code).toContain('{"at":3,"kind":"leave","by":1,"a":0.25,"b":0.5},');
  });
});
