import type { Role } from '@parley/domain/access';
import { SeededRandom } from '@parley/server/testing';
import { ACTIONS } from './actions.js';
import type { SimulatedApp } from './app.js';
import { type Choices, other } from './choices.js';
import { Company } from './company.js';
import { Engine } from './engine.js';
import { FAULTS, type FaultKind, playStep, type Step, type StepKind } from './faults.js';
import { ADMINISTRATOR, GUEST, MEMBER, MODERATOR, Model, OWNER, type Person } from './model.js';
import { SimulatedTime, settle, stopSliceClock } from './simulated-time.js';
import { Violation } from './violation.js';

export interface SimulationOptions {
  readonly seed: number;
  readonly days: number;
  readonly people: number;
  /** Faults per simulated day and person; 0 for none. */
  readonly faults: number;
  /** Default: all. */
  readonly faultKinds?: readonly FaultKind[];
  /** Steps of calls derived from the routes, per simulated day; default: none. */
  readonly calls?: number;
}

export interface RunOptions {
  readonly seed: number;
  readonly people: number;
  readonly steps: readonly Step[];
  /** Number of servers of the database; default: 1. */
  readonly nodes?: number;
  /** Number of steps to play; default: all. */
  readonly until?: number;
  /** Receives one line per request and fault. */
  readonly onTrace?: (line: string) => void;
  /** Called after each step that kept the invariants. */
  readonly onStep?: (counts: Counts) => void;
  /** Application with hooks and consumers that run with the engine, during this run only. */
  readonly app?: SimulatedApp;
  /** Plays steps of calls, which leave the model as it is. */
  readonly calls?: (company: Company) => (step: Choices) => Promise<void>;
}

/** Numbers of what was played. */
export interface Counts {
  readonly steps: number;
  readonly calls: number;
  readonly messages: number;
  readonly crashes: number;
}

export interface Outcome extends Counts {
  /** SHA-256 of the trace. */
  readonly digest: string;
  /** Null if all invariants held. */
  readonly violation: Violation | null;
}

const DAY_SECONDS = 86_400;
const DAY_STARTS = 8 * 3600;
const DAY_LASTS = 11 * 3600;
const ACTIONS_PER_DAY = 10;
/** Actions in quick succession, during which clients poll and no queue expires. */
const ROUND = 12;
const ROUND_PAUSE_SECONDS = 60;
/** Time after which other people of a large company are online. */
const SHIFT_SECONDS = 3600;
/** Maximum number of people who are online at a time. */
const MAX_PRESENT = 4;
/** Steps after which all clients poll. Others poll if they must have events. */
const POLL_EVERY = 10;
/** Steps between two checks of all people. */
const FULL_CHECK_EVERY = 100;
/** Share of the steps after which one person is checked. */
const CHECKED_SHARE = 1 / 12;
/** Share of the steps after which one person's client waits for its next event. */
const WAITING_SHARE = 1 / 2;
/** Steps after which everybody's access is checked. */
const ACCESS_STEPS: ReadonlySet<StepKind> = new Set([
  ...(['move', 'delete', 'join', 'invite', 'leave', 'promote', 'changeChannel', 'changeGroup'] as const),
]);

/** Steps that change only what the person or the person's client has. */
const PERSONAL_STEPS: readonly StepKind[] = ['draft', 'remind', 'schedule', 'markUnread', 'wipe', 'comeBack'];

/** Steps that people take at the same time: clients register and poll during sends. */
const JOINT_STEPS = ['send', 'send', 'wipe', 'comeBack'] as const;
const isJoint = ({ kind }: Step): boolean => (JOINT_STEPS as readonly StepKind[]).includes(kind);

/** Plans everything that people do and that fails, by the seed alone. */
export function plan({ seed, days, people, faults, faultKinds, calls = 0 }: SimulationOptions): readonly Step[] {
  const random = new SeededRandom(seed);
  const steps: Step[] = [];
  const add = (at: number, kinds: readonly StepKind[]) =>
    steps.push({
      ...{ at, kind: random.pick(kinds), by: random.pick(presentAt(at, people)) },
      ...{ a: random.fraction(), b: random.fraction() },
    });
  const actions = weighted(ACTIONS);
  const failures = weighted(FAULTS).filter((kind) => faultKinds?.includes(kind) ?? true);
  for (let day = 0; day < days; day++) {
    const time = () => day * DAY_SECONDS + DAY_STARTS + random.below(DAY_LASTS);
    let at = time();
    const busy: number[] = [];
    for (let n = 0; n < people * ACTIONS_PER_DAY; n++) {
      at = n % ROUND === 0 ? time() : at + random.below(ROUND_PAUSE_SECONDS);
      busy.push(at);
      add(at, actions);
    }
    // Event queues live only while people are busy.
    const joint = Array.from({ length: Math.ceil(people / 4) }, () => random.pick([time(), random.pick(busy)]));
    for (let n = 0; n < people * faults; n++)
      add(random.pick([time(), random.pick(busy), random.pick(joint)]), failures);
    for (const at of joint) for (let n = 0; n < 10; n++) add(at, JOINT_STEPS);
  }
  steps.sort((a, b) => a.at - b.at);
  if (faults > 0 && (faultKinds?.includes('upgrade') ?? true)) insertUpgrade(steps, new SeededRandom(seed + 1));
  // The other steps of a seed are the same with and without calls.
  const chances = new SeededRandom(seed + 2);
  const moments = steps.map(({ at }) => at);
  for (let n = 0; n < days * calls; n++)
    steps.push({
      ...{ at: chances.pick(moments), kind: 'call', by: 0 },
      ...{ a: chances.fraction(), b: chances.fraction() },
    });
  return steps.sort((a, b) => a.at - b.at);
}

/** Inserts an upgrade in one of the rounds of steps before the first imported history, which it would lose. */
function insertUpgrade(steps: Step[], random: SeededRandom): void {
  const end = steps.findIndex(({ kind }) => kind === 'importHistory');
  const index = random.below(end < 0 ? steps.length : end + 1);
  const [a, b] = [random.fraction(), random.fraction()];
  steps.splice(index, 0, { at: steps[index]!.at, kind: 'upgrade', by: steps[index]!.by, a, b });
}

/** People who are online, and who act. Polls and checks of everybody after each step would cost more than the step. */
function presentAt(at: number, people: number): readonly Person[] {
  const everybody = Array.from({ length: people }, (_, person) => person);
  if (people <= MAX_PRESENT) return everybody;
  const random = new SeededRandom(Math.floor(at / SHIFT_SECONDS));
  const ranks = everybody.map(() => random.fraction());
  return everybody.sort((a, b) => ranks[a]! - ranks[b]!).slice(0, MAX_PRESENT);
}

const weighted = <Kind extends StepKind>(kinds: Readonly<Record<Kind, { readonly weight: number }>>) =>
  (Object.keys(kinds) as Kind[]).flatMap((kind) => Array.from({ length: kinds[kind].weight }, () => kind));

const FIRST_ROLES: readonly (readonly [Role, number])[] = [
  ['owner', OWNER],
  ['administrator', ADMINISTRATOR],
  ['moderator', MODERATOR],
  ['guest', GUEST],
];
const roleOf = (person: number): readonly [Role, number] => FIRST_ROLES[person] ?? ['member', MEMBER];

/** Steps in which the server loads libraries: of the body of an upload, of the type of a file, and of imports. */
const REHEARSED = (['upload', 'importHistory'] as const).map((kind) => ({
  at: DAY_STARTS,
  kind,
  by: 0,
  a: 0.5,
  b: 0.5,
}));

/** Run that loads all libraries. Node loads them in real time, in which other work would go on. */
let rehearsal: Promise<unknown> | null = null;

/** Plays steps on a new server and checks the invariants after each one. The same options always give the same digest. */
export async function run(options: RunOptions): Promise<Outcome> {
  rehearsal ??= play({ seed: 0, people: 1, steps: REHEARSED });
  await rehearsal;
  return play(options);
}

async function play(options: RunOptions): Promise<Outcome> {
  const { seed, people, steps, nodes, until, onTrace = () => {}, onStep = () => {}, app, calls } = options;
  const restoreSliceClock = stopSliceClock();
  const time = new SimulatedTime(new SeededRandom(seed + 1));
  const engine = new Engine(time, seed + 2, nodes);
  let played = 0;
  let company: Company | undefined;
  let violation: Violation | null = null;
  const counts = (): Counts => ({
    steps: played,
    calls: company?.calls ?? 0,
    messages: company?.model.messages.size ?? 0,
    crashes: engine.crashes,
  });
  try {
    await engine.start();
    company = await openCompany(engine, time, people, onTrace, app);
    const playCalls = calls?.(company);
    let day = 0;
    for (const group of groupsOf(steps.slice(0, until))) {
      played += group.length;
      const today = Math.floor(group[0]!.at / DAY_SECONDS);
      if (today > day && !engine.isDiskFailing && !engine.isDead) {
        await company.backUp();
        day = today;
      }
      await playGroup(company, group, played, playCalls);
      onStep(counts());
    }
    await endOf(company);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    violation = error;
    company?.trace(`${error.message}`);
  } finally {
    await engine.close();
    restoreSliceClock();
  }
  return { digest: company?.digest() ?? '', ...counts(), violation };
}

/** Joint steps in one second run together; every other step runs alone. */
function groupsOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last?.every((each) => each.at === step.at && isJoint(each)) && isJoint(step)) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** Choices of the step that creates a channel. */
const OPEN_CHANNEL = [0.9, 0] as const;
const SHARED_CHANNEL = [0.1, 0] as const;
const PROTECTED_CHANNEL = [0.1, 0.9] as const;

/** Choices of the step that lets moderators and the crew subscribe to the shared private channel. */
const GRANT_TO_GROUPS = { a: 0.6, b: 0.7 };

/** Choices of the step that lets only moderators post in the second public channel. */
const FOR_MODERATORS = { a: 0.3, b: 0.4 };

/** Everybody is in a public channel, and half of the people are in another one and in two private ones. */
async function openCompany(
  engine: Engine,
  time: SimulatedTime,
  people: number,
  onTrace: (line: string) => void,
  app?: SimulatedApp,
): Promise<Company> {
  const roles = Array.from({ length: people }, (_, person) => roleOf(person));
  const accounts = await engine.createCompany(roles.map(([role]) => role));
  if (app) await engine.install(app, accounts);
  const model = new Model();
  model.roles.push(...roles.map(([, number]) => number));
  const company = new Company(engine, time, model, accounts, onTrace);
  const unlimited = JSON.stringify('unlimited');
  await company.insist(0, 'PATCH', '/realm', {
    ...{ send_channel_events_messages: false, message_content_edit_limit_seconds: unlimited },
    message_content_delete_limit_seconds: unlimited,
  });
  await settle(engine.isBusy);
  await company.notifications.open();
  for (const name of ['crew', 'helpers'])
    await company.insist(0, 'POST', '/user_groups/create', { name, description: '', members: [] });
  for (const person of accounts.keys()) await company.connect(person);
  for (const [a, b] of [OPEN_CHANNEL, OPEN_CHANNEL, SHARED_CHANNEL, PROTECTED_CHANNEL]) {
    await playStep(company, { at: 0, kind: 'createChannel', by: 0, a, b });
  }
  const [open, ...others] = [...model.channels.values()];
  const half = [...accounts.keys()].slice(0, Math.ceil(people / 2));
  await company.invite(0, open!, [...accounts.keys()]);
  for (const channel of others) await company.invite(0, channel, half);
  for (const choices of [GRANT_TO_GROUPS, FOR_MODERATORS])
    await playStep(company, { at: 0, kind: 'changeChannel', by: 0, ...choices });
  return company;
}

async function playGroup(
  company: Company,
  group: readonly Step[],
  played: number,
  playCalls?: (step: Choices) => Promise<void>,
): Promise<void> {
  const { engine } = company;
  const [step] = group as [Step];
  await advance(company, step.at * 1000);
  company.present = presentAt(step.at, company.people.length);
  company.beginStep(group.length > 1);
  if (!engine.isDiskFailing) await company.checkJobs();
  for (const each of group) company.trace(`#${played} at ${each.at} ${each.kind} p${each.by} ${each.a} ${each.b}`);
  company.mayHaveRepeated = false;
  if (step.kind === 'call') {
    // Nothing has changed for people of the company.
    await playCalls?.(step);
    requireNoProblems(company);
    return;
  }
  const playAll = async (person: Person) => {
    for (const each of group) if (each.by === person) await playStep(company, each);
  };
  await Promise.all([...company.people.keys()].map(playAll));
  await settle(engine.isBusy);
  if (engine.isDead) await company.recover();
  company.model.endLosses(await engine.lastEventId());
  if (!engine.isDiskFailing) await checkStep(company, group, played);
  // The disk may fail in commits only, of which clients must not hear.
  else for (const person of company.present) await company.catchUp(person);
}

/** Lets time pass, with a check at each moment when a job is due. */
async function advance(company: Company, endMs: number): Promise<void> {
  const { engine, time } = company;
  const clockAt = (elapsedMs: number) => time.nowMs() + elapsedMs - time.elapsedMs();
  for (let due = company.nextJob(clockAt(endMs) / 1000); due !== null; due = company.nextJob(clockAt(endMs) / 1000)) {
    await time.advanceTo(time.elapsedMs() + due * 1000 - time.nowMs(), engine);
    if (engine.isDead) await company.recover();
    if (!engine.isDiskFailing) await company.checkJobs();
  }
  await time.advanceTo(endMs, engine);
  if (engine.isDead) await company.recover();
}

async function checkStep(company: Company, group: readonly Step[], played: number): Promise<void> {
  const [step] = group as [Step];
  await company.checkJobs();
  await company.checkAnswers();
  await company.checkErasures(false);
  const { present } = company;
  const isForAll = played % POLL_EVERY === 0;
  for (const person of present) if (isForAll || company.isDue(person)) await company.checkEvents(person);
  const witness = present[Math.floor(((step.a * 977 + step.b) % 1) * present.length)]!;
  const message = company.model.readable(step.by).at(-1 - Math.floor(step.a * 3));
  const isAccess = ACCESS_STEPS.has(step.kind);
  if (isAccess) for (const person of present) await company.checkAccess(person, message ? [message] : []);
  else if (message) for (const person of new Set([step.by, witness])) await company.checkMessage(person, message);
  const isFull = played % FULL_CHECK_EVERY === 0;
  if (isFull) await company.endSlowReads();
  if (isFull) for (const person of present) await company.checkPerson(person);
  else if (other(step.b) < CHECKED_SHARE) await company.checkPerson(witness);
  const personal = group.filter(({ kind }) => PERSONAL_STEPS.includes(kind));
  for (const person of new Set(personal.map(({ by }) => by))) await company.checkState(person);
  requireNoProblems(company);
  await company.checkApp(false);
  company.stopWaiting();
  if (other(step.a) < WAITING_SHARE) company.wait(witness);
}

/** Lets the last jobs end, then checks what everybody sees. */
async function endOf(company: Company): Promise<void> {
  const { engine, time } = company;
  if (engine.isDiskFailing) company.repairDisk();
  company.excuseJobs(1);
  company.present = [...company.people.keys()];
  // Clients still have the queues of the last steps.
  for (const person of company.people.keys()) await company.checkPerson(person);
  await advance(company, time.elapsedMs() + 5 * 3600_000);
  await company.endSlowReads();
  await company.checkJobs();
  await company.checkAnswers();
  await company.checkErasures(true);
  for (const person of company.people.keys()) {
    await company.comeBack(person);
    await company.checkPerson(person);
  }
  requireNoProblems(company);
  await company.checkApp(true);
}

function requireNoProblems(company: Company): void {
  company.notifications.check();
  const { engine } = company;
  const [problem] = engine.problems.splice(0);
  if (problem !== undefined) throw new Violation('no problems for the operator', problem);
}
