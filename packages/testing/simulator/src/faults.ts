import { ACTIONS } from './actions.js';
import { type Choices, MOMENTS, other, type Play, pick } from './choices.js';
import type { Company } from './company.js';
import { copyCompany, importHistory } from './importing.js';
import { send } from './sending.js';

/** Maximum number of written statements before an upgrade stops; a complete one has about half as many. */
const MAX_STOP = 120;

/** Steps of wrong clocks that are mended, in seconds. */
const CLOCK_STEPS = [3600, 2 * 86_400, 730 * 86_400];

/** The clock jumps while the server runs, or before it starts again. */
async function stepClock(company: Company, { a, b }: Choices, direction: 1 | -1): Promise<void> {
  if (b < 0.3) await company.engine.crash();
  company.jumpClock(direction * Math.ceil(b * pick(CLOCK_STEPS, a)!));
  if (b < 0.3) await company.recover();
}

/** Faults by name, with their weight among all faults. */
export const FAULTS = {
  crash: {
    weight: 3,
    play: async (company, { a, b }) => {
      company.engine.crashPlan = { commits: Math.floor(a * 6), moment: pick(MOMENTS, b)! };
    },
  },
  crashSending: {
    weight: 6,
    play: async (company, step) => {
      const choice = other(step.a + step.b);
      company.engine.crashPlan = { commits: Math.floor(choice * 4), moment: pick(MOMENTS, other(choice))! };
      await send(company, step);
    },
  },
  crashNow: {
    weight: 2,
    play: async (company, step) => {
      // A new subscriber then reads the first events from the log.
      if (step.a < 0.5) await ACTIONS.invite.play(company, step);
      await company.engine.crash();
      await company.recover();
    },
  },
  loseAnswer: {
    weight: 3,
    play: async (company, step) => {
      company.losePolls();
      await send(company, step, step.b < 0.4 ? 'request' : 'answer');
    },
  },
  clockBack: { weight: 1, play: (company, step) => stepClock(company, step, -1) },
  clockForward: { weight: 1, play: (company, step) => stepClock(company, step, 1) },
  diskFull: { weight: 1, play: async (company, { a }) => company.failDisk('full', 2 + Math.floor(a * 8)) },
  diskBroken: { weight: 1, play: async (company, { a }) => company.failDisk('broken', 1 + Math.floor(a * 4)) },
  restore: { weight: 1, play: async (company) => company.restoreBackup() },
  putBackFile: { weight: 1, play: async (company) => company.restoreBackup('as a file') },
  copyCompany: { weight: 2, play: copyCompany },
  importHistory: { weight: 2, play: importHistory },
  // Planned once in a run.
  upgrade: { weight: 0, play: async (company, { a }) => company.upgrade(Math.floor(a * MAX_STOP)) },
  slowReader: { weight: 2, play: async (company, { by }) => company.readSlowly(by) },
} satisfies Readonly<Record<string, { readonly weight: number; readonly play: Play }>>;

export type FaultKind = keyof typeof FAULTS;

/** Faults that every server meets, and that leave its database and its clock alone. */
export const SMALL_FAULTS: readonly FaultKind[] = ['crash', 'crashSending', 'crashNow', 'loseAnswer', 'slowReader'];

/** `call`: requests derived from the declared routes, in an organization apart from the model. */
export type StepKind = keyof typeof ACTIONS | FaultKind | 'call';

/** Move of a simulated person, or a fault. */
export interface Step extends Choices {
  readonly kind: StepKind;
}

const PLAYS: Readonly<Partial<Record<StepKind, { readonly play: Play }>>> = { ...ACTIONS, ...FAULTS };

export const playStep = async (company: Company, step: Step): Promise<void> => PLAYS[step.kind]?.play(company, step);
