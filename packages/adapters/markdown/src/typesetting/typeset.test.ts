import { HOSTILE_TEXTS } from '@parley/testkit';
import { MAX_HTML_LENGTH } from '../budgets.js';
import { highlight, typesetFormula, Watchdog } from './typeset.js';

function typeset(source: string) {
  const watchdog = new Watchdog(60_000, 0);
  const run = jest.spyOn(watchdog, 'run');
  const html = typesetFormula({ kind: 'formula', source, displayMode: true }, watchdog);
  return { html, calls: run.mock.calls.length };
}

describe('typesetFormula', () => {
  it('spends no time on a matrix with too much HTML', () => {
    for (const source of [
      HOSTILE_TEXTS.mathmatrix!.slice(8, -4),
      `\\begin{matrix}${'\\\\&'.repeat(2100)}\\end{matrix}`,
    ]) {
      expect(typeset(source)).toEqual({ html: null, calls: 0 });
    }
  });

  it('typesets other long formulas, also with escaped ampersands', () => {
    for (const source of [`\\begin{matrix}${'&'.repeat(500)}\\end{matrix}`, '\\&'.repeat(2100)]) {
      expect(typeset(source)).toEqual({ html: expect.stringContaining('katex'), calls: 1 });
    }
  });

  it('typesets each matrix with HTML of a permitted length', () => {
    // An empty cell is the shortest one.
    const cells = 1000;
    const { html } = typeset(`\\begin{matrix}${'&'.repeat(cells)}\\end{matrix}`);
    expect((html!.length / cells) * 2000).toBeGreaterThan(MAX_HTML_LENGTH);
  });
});

describe('highlight', () => {
  function highlighted(source: string, grammar = 'markdown') {
    const watchdog = new Watchdog(60_000, 0);
    const run = jest.spyOn(watchdog, 'run');
    const html = highlight({ kind: 'code', source, grammar }, watchdog);
    return { html, calls: run.mock.calls.length };
  }
  const filled = (piece: string) => piece.repeat(10_000 / piece.length);

  it.each(['[a](', '[](', '![a](', '#[a](', '[a](http://', '['])(
    'spends no time on Markdown with too many %j',
    (piece) => {
      expect(highlighted(filled(piece))).toEqual({ html: null, calls: 0 });
    },
  );

  it('highlights long Markdown with ordinary links, and brackets in other languages', () => {
    const line = '* See [the guide](https://a.example/guide), [the reference](b.md) and [the changelog][1].\n';
    expect(highlighted(filled(line))).toEqual({ html: expect.stringContaining('<span class="sx">'), calls: 1 });
    expect(highlighted(filled('[a]('), 'javascript').calls).toBe(1);
  });
});
