import type { Step, StepKind } from './faults.js';
import { pageOf } from './page.js';
import { Violation } from './violation.js';

const step = (kind: StepKind, at: number): Step => ({ at, kind, by: 1, a: 0.25, b: 0.5 });

describe('page of a run', () => {
  const plan = [step('send', 30_000), step('crash', 40_000), step('leave', 90_000), step('send', 91_000)];
  const lines = ['#1 at 30000 send p1', 'p1 POST /messages → 200', '#3 at 90000 leave p1', 'p1 sees <b>too much</b>'];
  const counts = { seed: 9, people: 2, calls: 4, messages: 1, crashes: 1, digest: 'abc' };

  it('shows each day that was played, and marks faults and the failing step', () => {
    const violation = new Violation('sync law', 'p1 differs');
    const page = pageOf({ ...counts, plan, lines, steps: 3, violation });
    expect(page.match(/<h2>Day \d<\/h2>/g)).toEqual(['<h2>Day 1</h2>', '<h2>Day 2</h2>']);
    expect(page.match(/class="fault"/g)).toHaveLength(1);
    expect(page.match(/<circle class="failed"/g)).toHaveLength(1);
    expect(page).toContain('<b>Step 3</b> sync law: p1 differs');
    expect(page).toContain('class="end" open><summary>#3 day 2, 01:00:00 p1 leave</summary>');
    expect(page).not.toContain('#4');
  });

  it('shows responses as text, and marks nothing if every invariant held', () => {
    const page = pageOf({ ...counts, plan, lines, steps: 4, violation: null });
    expect(page).toContain('p1 sees &lt;b&gt;too much&lt;/b&gt;');
    expect(page).not.toContain('class="failed"');
  });
});
