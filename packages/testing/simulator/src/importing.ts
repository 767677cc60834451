import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { DomainError } from '@parley/domain/kernel';
import { openExport, writeExport } from '@parley/export-files';
import { COLUMN_NAMES, type ComposedParley } from '@parley/server/testing';
import { RealmReader } from '@parley/transfer/exports';
import { ImportRealm } from '@parley/transfer/imports';
import type { ImportRecord } from '@parley/transfer/records';
import { type Choices, MOMENTS, other, pick } from './choices.js';
import { Company, narrowTo } from './company.js';
import { PAGE } from './company-clients.js';
import { type Account, accountOf } from './engine.js';
import { exchanged, type History, type Message, numbersIn, type Person, type StoredFile, textOf } from './model.js';
import { TOPICS } from './sending.js';
import { Violation } from './violation.js';

/** Number of units of work of a large import, before one of which it crashes. */
const UNITS = 24;
/** Number of channels from which on no history is imported. */
const MAX_CHANNELS = 9;
/** Age from which on a company is too large to be copied. */
const MAX_COPIED_MS = 28 * 86_400_000;
/** Creator of imported channels. */
const NOBODY = -1;

/** Organization that was imported from an archive of the company. */
class CopiedCompany extends Company {
  /** Finds the new ids of channels, messages and files by their names and texts. */
  async findIds(): Promise<void> {
    const { model } = this;
    const messages = [...model.messages.values()].sort((a, b) => a.id - b.id);
    const channels = [...model.channels.values()];
    const byNumber = new Map(messages.map((message) => [message.number, message]));
    for (const channel of channels) {
      const reader = [...this.people.keys()].find((person) => model.mayReadChannel(person, channel)) ?? 0;
      const { json } = await this.insist(reader, 'GET', '/get_stream_id', { stream: channel.name });
      Object.assign(channel, { id: json.stream_id });
    }
    const earlier = messages.filter(({ id }) => id <= model.lastEarlierId);
    const found = new Set<Message>();
    for (const person of this.present) {
      for (const channel of [...channels, null]) {
        const shown = (await this.page(person, narrowTo(channel), PAGE)).json.messages ?? [];
        for (const { id, sender_id, content } of shown) {
          const [number = 0] = numbersIn(content);
          const message = byNumber.get(number);
          if (!message || sender_id !== this.people[message.sender]!.id) continue;
          found.add(Object.assign(message, { id }));
          const [, path] = /\/user_uploads\/([^)]+)/.exec(content) ?? [];
          if (message.file && path) Object.assign(message.file, { path });
        }
      }
    }
    const ids = messages.filter((message) => found.has(message)).map(({ id }) => id);
    if (ids.some((id, index) => id <= (ids[index - 1] ?? 0)))
      throw new Violation('imported messages keep their order', `${ids}`);
    model.lastEarlierId = Math.max(0, ...earlier.filter((message) => found.has(message)).map(({ id }) => id));
    model.channels = new Map(channels.map((channel) => [channel.id, channel]));
    model.messages = new Map(messages.map((message) => [message.id, message]));
  }
}

/** The operator exports the company and imports the archive as another organization, possibly with a crash. */
export async function copyCompany(company: Company, step: Choices): Promise<void> {
  const { engine, time } = company;
  if (engine.isDiskFailing || engine.app || time.elapsedMs() > MAX_COPIED_MS) return;
  const name = `copy${company.model.newNumber()}`;
  const model = company.model.copy();
  const accounts = await untilDone(company, step, (parley, realm) => importCopy(company, parley, realm, name));
  const copy = new CopiedCompany(engine, time, model, accounts, (line) => company.trace(`${name} ${line}`));
  copy.present = company.present;
  await copy.findIds();
  const isStored = ({ number }: StoredFile) => !model.removedPaths.has(company.model.files.get(number)!.path);
  // The new paths are known from messages that somebody has read.
  const isRead = (message: Message) => copy.present.some((person) => model.mayRead(person, message));
  const linked = new Set([...model.messages.values()].filter(isRead).map(({ file }) => file));
  const files = [...model.files.values()].filter((file) => linked.has(file) && isStored(file));
  for (const person of copy.present) {
    await copy.checkPerson(person);
    const [policies, copied] = [await company.policiesOf(person), await copy.policiesOf(person)];
    if (policies.join() !== copied.join())
      throw new Violation('an import is complete', `p${person} has the policies ${copied}, not ${policies}`);
    for (const file of files) await copy.checkFile(person, file);
  }
  const last = [...model.messages.values()].filter(({ isDeleted }) => !isDeleted).slice(-20);
  company.model.foreign.push(...last.map(({ id, file }) => ({ id, path: file?.path ?? null })));
}

/** Repeats the work, which may be interrupted by a crash, until it is done. @throws Violation if it fails */
async function untilDone<T>(
  company: Company,
  { a, b }: Choices,
  work: (parley: ComposedParley, realm: string) => Promise<T>,
  onCrash = async () => {},
): Promise<T> {
  const { engine } = company;
  if (a < 0.5) engine.crashPlan = { commits: Math.floor(b * UNITS), moment: pick(MOMENTS, other(b))! };
  for (;;) {
    let problem: Error | null = null;
    const result = await engine.administer((parley, realm) =>
      work(parley, realm).catch((error) => {
        problem = error;
        throw error;
      }),
    );
    engine.crashPlan = null;
    if (engine.isDead) {
      await company.recover();
      await onCrash();
    } else if (result !== undefined) return result;
    else throw new Violation('exports are imported', `${(problem as Error | null)?.stack}`);
  }
}

/** The operator imports the history of another chat, in which a person has one more channel each time. */
export async function importHistory(company: Company, step: Choices): Promise<void> {
  const { engine, model, time } = company;
  if (engine.isDiskFailing || engine.app || model.channels.size >= MAX_CHANNELS) return;
  const { histories } = model;
  const numbers = [model.newNumber(), model.newNumber(), model.newNumber()];
  histories.push({ name: `history ${numbers[0]}`, by: step.by, numbers, at: time.now() });
  // Queues end, so that their clients see the new channel.
  model.accessChanges++;
  const known = new Set([...model.channels.values()].map(({ name }) => name));
  // A restored backup lacks later imports.
  const added = histories.filter(({ name }) => !known.has(name));
  for (const { by, numbers } of added) for (const number of numbers) model.announce(number, by);
  const checkHalf = async () => {
    const seen = new Set<number>();
    for (const person of company.present)
      for (const number of numbersIn((await company.page(person, [])).body)) seen.add(number);
    const half = added.find(({ numbers }) => new Set(numbers.map((number) => seen.has(number))).size > 1);
    if (half) throw new Violation('nothing is half visible', half.name);
  };
  const records = histories.flatMap(recordsOf);
  const write = (choices: Choices) =>
    untilDone(company, choices, ({ imports }, realm) => imports.write({ realm, records }), checkHalf);
  await write(step);
  const { id } = await write({ ...step, a: 1 });
  if (id !== null) throw new Violation('an unchanged history changes nothing', `import ${id}`);
  for (const history of added) await adopt(company, history);
}

async function adopt(company: Company, { name, by, numbers }: History): Promise<void> {
  const { model, time } = company;
  const { json } = await company.insist(by, 'GET', '/get_stream_id', { stream: name });
  const access = { isPrivate: true, isShared: true, isForModerators: false, grantsGroups: false, creator: NOBODY };
  const people = { subscribers: new Set([by]), grantees: new Set<Person>() };
  const channel = { id: json.stream_id, name, ...access, ...people };
  model.channels.set(channel.id, channel);
  const { messages } = (await company.page(by, narrowTo(channel))).json;
  const found = messages.flatMap(({ content }: { content: string }) => [...numbersIn(content)]);
  if (!isDeepStrictEqual(found, numbers)) throw new Violation('an import is complete', `${name}: ${found}`);
  for (const [index, number] of numbers.entries()) {
    const message = model.send(messages[index].id, by, { channel, topic: TOPICS[0]! }, number, time.elapsedMs());
    if (index === 0) message.reactions.add(`${by} tada`);
  }
}

function recordsOf({ name, by, numbers, at }: History): readonly ImportRecord[] {
  const source = 'chat:history';
  const [person, email] = [`p${by}`, `p${by}@example.com`];
  return [
    { source, kind: 'person', id: person, name: person, email, isEmailVerified: true },
    { source, kind: 'channel', id: name, name, privacy: 'private', members: [person] },
    ...numbers.map(
      (number, index): ImportRecord => ({
        ...{ source, kind: 'message', id: `${number}`, channel: name, topic: TOPICS[0]!, sender: person },
        ...{ sentAt: at + index, content: textOf(number) },
      }),
    ),
    { source, kind: 'reaction', id: name, message: `${numbers[0]}`, person, emoji: 'tada' },
  ];
}

/** Returns the accounts of the copied people. The archive gets other unique words and addresses. */
async function importCopy(
  { people, engine, model }: Company,
  parley: ComposedParley,
  realm: string,
  stringId: string,
): Promise<readonly Account[]> {
  const temporaryFolder = engine.disk.folder;
  const { unitOfWork } = parley.ports;
  const find = async (name: string) =>
    (await unitOfWork.readAcross(({ realms }) => realms.list())).find((each) => each.stringId === name);
  const options = { names: COLUMN_NAMES, temporaryFolder };
  // An interrupted import may have been complete.
  if (!(await find(stringId))) {
    const source = await parley.useCase(RealmReader).open((await find(realm))!.id, { covers: 'all' });
    const chunks: Uint8Array[] = [];
    for await (const chunk of writeExport(source, options)) chunks.push(chunk);
    const archive = exchanged(gunzipSync(Buffer.concat(chunks)).toString('latin1'));
    const gone = [...numbersIn(archive)].find((number) => model.isGone(-number));
    if (gone !== undefined) throw new Violation('a deleted message is gone', `an export has its text ${-gone}`);
    const path = join(temporaryFolder, `${stringId}.tar.gz`);
    await writeFile(path, gzipSync(Buffer.from(archive.replaceAll(/\bp(\d+@example)/g, 'q$1'), 'latin1')));
    const { source: read, close } = await openExport(path, options);
    const write = () => parley.useCase(ImportRealm).execute({ source: read, stringId });
    await write();
    const again = await write().catch(({ code }: DomainError) => code);
    if (again !== 'STRING_ID_TAKEN') throw new Violation('an organization is imported once', stringId);
    await close();
  }
  const { id } = (await find(stringId))!;
  const accounts: Account[] = [];
  for (const person of people.keys()) {
    const email = `q${person}@example.com`;
    const user = await unitOfWork.read(id, ({ users }) => users.findByEmail(id, email));
    accounts.push({ ...(await accountOf(parley, id, user!.id, email)), copyHost: `${stringId}.localhost` });
  }
  return accounts;
}
