import { escapeHtml } from '@parley/domain/kernel';
import { HTML_END, htmlStart } from '@parley/export-files';
import { FAULTS, type Step } from './faults.js';
import type { Outcome } from './simulate.js';

export interface Played extends Outcome {
  readonly seed: number;
  readonly people: number;
  readonly plan: readonly Step[];
  /** Trace of the run. */
  readonly lines: readonly string[];
}

const DAY_SECONDS = 86_400;
const WIDTH = 1000;
const ROW = 22;
const LEFT = 40;
/** Number of last steps shown with their requests. */
const MAX_SHOWN = 60;
const MAX_LINE = 400;

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 66rem; padding: 0 1rem; color: #222; background: #fff }
h2 { font-size: 1rem; margin: 1.5rem 0 .25rem }
svg { width: 100%; height: auto; display: block; background: #f6f7f9; border-radius: 6px }
svg text { font-size: 11px; fill: #555 }
.rest { fill: #7d8ca3 } .write { fill: #2c6bd9 } .access { fill: #8a4fc7 } .fault { stroke: #d98324; stroke-width: 3 }
.failed { fill: none; stroke: #c8102e; stroke-width: 3 }
.key span { display: inline-block; margin-right: 1.25rem } .key i { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .4em }
.violation { border-left: 4px solid #c8102e; background: #fdf0f1; padding: .5rem 1rem; overflow-wrap: anywhere }
details { border-bottom: 1px solid #e3e6ea; padding: .15rem 0 } summary { cursor: pointer; font-variant-numeric: tabular-nums }
.faulty summary { color: #a3590d } .end summary { color: #c8102e; font-weight: 600 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px; margin: .25rem 0 .5rem }`;

const KINDS: readonly (readonly [string, string, string])[] = [
  ['write', '#2c6bd9', 'writes'],
  ['access', '#8a4fc7', 'changes access'],
  ['rest', '#7d8ca3', 'other'],
  ['fault', '#d98324', 'fault'],
];
const WRITES = ['send', 'edit', 'react', 'upload', 'draft', 'schedule', 'remind', 'describe'];
const ACCESS = ['move', 'delete', 'join', 'leave', 'invite', 'promote', 'changeChannel', 'createChannel', 'deleteFile'];

const isFault = ({ kind }: Step): boolean => kind in FAULTS;
const classOf = (step: Step): string =>
  isFault(step) ? 'fault' : WRITES.includes(step.kind) ? 'write' : ACCESS.includes(step.kind) ? 'access' : 'rest';

const twoDigits = (value: number): string => String(Math.floor(value)).padStart(2, '0');
const timeOf = (at: number): string =>
  `day ${Math.floor(at / DAY_SECONDS) + 1}, ${twoDigits((at % DAY_SECONDS) / 3600)}:${twoDigits((at % 3600) / 60)}:${twoDigits(at % 60)}`;
const nameOf = (step: Step, number: number): string => `#${number} ${timeOf(step.at)} p${step.by} ${step.kind}`;

/** Page with the days, people, faults and last steps of a run, and the step that failed. */
export function pageOf(run: Played): string {
  const { seed, people, plan, lines, steps, calls, messages, crashes, violation, digest } = run;
  const played = plan.slice(0, steps);
  const counts = `${steps} of ${plan.length} steps, ${calls} requests, ${messages} messages, ${crashes} crashes`;
  const result = violation
    ? `<p class="violation"><b>Step ${steps}</b> ${escapeHtml(violation.message.slice(0, 2000))}</p>`
    : '<p>Every invariant held.</p>';
  const days = [...new Set(played.map(({ at }) => Math.floor(at / DAY_SECONDS)))];
  return [
    htmlStart(`Simulation, seed ${seed}`, STYLE),
    `<p>${counts}. Trace ${digest.slice(0, 16)}…</p>\n${result}`,
    `<p class="key">${KINDS.map(([, color, text]) => `<span><i style="background:${color}"></i>${text}</span>`).join('')}</p>`,
    ...days.map((day) => stripOf(day, played, people, violation !== null)),
    `<h2>Steps, last ones first</h2>\n${lastSteps(played, lines, violation !== null)}`,
    HTML_END,
  ].join('\n');
}

/** One day: a row per person, and a line across all rows per fault. */
function stripOf(day: number, played: readonly Step[], people: number, hasFailed: boolean): string {
  const height = ROW * people + 18;
  const shown = played
    .map((step, index) => ({ step, index }))
    .filter(({ step }) => Math.floor(step.at / DAY_SECONDS) === day);
  const from = Math.floor(Math.min(...shown.map(({ step }) => step.at % DAY_SECONDS)) / 3600) * 3600;
  const to = Math.ceil((Math.max(...shown.map(({ step }) => step.at % DAY_SECONDS)) + 1) / 3600) * 3600;
  const x = (at: number) => LEFT + (((at % DAY_SECONDS) - from) / (to - from)) * (WIDTH - LEFT - 12);
  const hours = Array.from({ length: (to - from) / 3600 + 1 }, (_, hour) => from + hour * 3600);
  const marks = shown.map(({ step, index }) => {
    const title = `<title>${nameOf(step, index + 1)}</title>`;
    const [left, top] = [x(step.at).toFixed(1), ROW * step.by + ROW / 2];
    const failed =
      hasFailed && index === played.length - 1 ? `<circle class="failed" cx="${left}" cy="${top}" r="9"/>` : '';
    if (isFault(step))
      return `<line class="fault" x1="${left}" x2="${left}" y1="2" y2="${ROW * people}">${title}</line>${failed}`;
    return `<circle class="${classOf(step)}" cx="${left}" cy="${top}" r="5">${title}</circle>${failed}`;
  });
  return [
    `<h2>Day ${day + 1}</h2>`,
    `<svg viewBox="0 0 ${WIDTH} ${height}">`,
    ...Array.from({ length: people }, (_, person) => `<text x="10" y="${ROW * person + 15}">p${person}</text>`),
    ...hours.map((hour) => `<text x="${x(hour) - 8}" y="${height - 5}">${twoDigits(hour / 3600)}</text>`),
    ...marks,
    '</svg>',
  ].join('\n');
}

function lastSteps(played: readonly Step[], lines: readonly string[], hasFailed: boolean): string {
  const requests = new Map<number, string[]>();
  let number = 0;
  for (const line of lines) {
    number = Number(/^#(\d+) at /.exec(line)?.[1] ?? number);
    requests.set(number, [...(requests.get(number) ?? []), line.slice(0, MAX_LINE)]);
  }
  const first = Math.max(0, played.length - MAX_SHOWN);
  return played
    .slice(first)
    .map((step, index) => {
      const number = first + index + 1;
      const isEnd = hasFailed && number === played.length;
      const shown = escapeHtml((requests.get(number) ?? []).slice(1).join('\n'));
      const attributes = `${isFault(step) ? ' class="faulty"' : ''}${isEnd ? ' class="end" open' : ''}`;
      return `<details${attributes}><summary>${nameOf(step, number)}</summary><pre>${shown}</pre></details>`;
    })
    .reverse()
    .join('\n');
}
