import type { HoldId, MessageId, UserId } from '@parley/domain/kernel';
import type { User } from '@parley/domain/users';
import { CreateHold, type Hold, ListHolds, ReleaseHold } from '@parley/domain/writing';
import { HeldReader } from '@parley/transfer/exports';
import type { ComposedParley } from '../composition/parley.js';
import { writeWhole } from '../exports/write-exports.js';
import { heldArchive } from '../facade/held-archive.js';
import { presentHold } from '../facade/holds.js';
import { counted } from '../kernel/counted.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import { always, type Command, type CommandContext, type CommandResult } from './command.js';
import { findRealm, nameOf, REALM } from './databases.js';
import { requireNewFile } from './export.commands.js';
import { timeOf } from './user.commands.js';

/** @throws UsageError */
export function idOf(name: string, value: string): number {
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new UsageError(`${name} must be an id.`);
  return Number(value);
}

function timeIn({ flag }: CommandContext, name: string): number | null {
  const value = flag(name);
  const ms = value === undefined ? 0 : Date.parse(value);
  if (Number.isNaN(ms)) throw new UsageError(`--${name} must be a date such as 2026-07-31 or 2026-07-31T12:00Z.`);
  return value === undefined ? null : Math.floor(ms / 1000);
}

/** Finds the person of `--person` by id or email. @throws StartupError */
async function personIn(
  { ports }: ComposedParley,
  { flag, concerns }: CommandContext,
  realmId: User['realmId'],
): Promise<UserId | null> {
  const person = flag('person');
  if (person === undefined) return null;
  const user = await ports.unitOfWork.read(realmId, ({ users }) =>
    /^\d+$/.test(person) ? users.find(realmId, Number(person) as UserId) : users.findByEmail(realmId, person),
  );
  if (!user) throw new StartupError(`There is no user ${person}.`);
  concerns.userId = user.id;
  return user.id;
}

function lineOf({ id, reason, personId, channelId, messageId, since, until, createdAt, releasedAt }: Hold): string {
  const criteria = [
    ...(personId === null ? [] : [`user ${personId}`]),
    ...(channelId === null ? [] : [`channel ${channelId}`]),
    ...(messageId === null ? [] : [`message ${messageId}`]),
    ...(since === null ? [] : [`from ${timeOf(since)}`]),
    ...(until === null ? [] : [`until ${timeOf(until)}`]),
  ];
  const state = releasedAt === null ? 'in force' : `released ${timeOf(releasedAt)}`;
  return `${id}\t${criteria.join(', ')}\tcreated ${timeOf(createdAt)}, ${state}\t${reason}`;
}

async function create(context: CommandContext): Promise<CommandResult> {
  const { flag } = context;
  const reason = flag('reason');
  if (reason === undefined) throw new UsageError('--reason TEXT is required.');
  const message = flag('message');
  const messageId = message === undefined ? null : (idOf('--message', message) as MessageId);
  const times = { since: timeIn(context, 'since'), until: timeIn(context, 'until') };
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context);
    const personId = await personIn(parley, context, realm.id);
    const name = flag('channel');
    const channel =
      name === undefined
        ? null
        : await parley.ports.unitOfWork.read(realm.id, ({ channels }) => channels.findByName(realm.id, name));
    if (name !== undefined && !channel) throw new StartupError(`There is no channel ${name}.`);
    const criteria = { personId, channelId: channel?.id ?? null, messageId, ...times };
    const hold = await parley.useCase(CreateHold).execute({ realmId: realm.id, userId: null }, { ...criteria, reason });
    return { lines: [`Created hold ${hold.id} in ${nameOf(realm)}`], data: presentHold(hold) };
  });
}

async function list(context: CommandContext): Promise<CommandResult> {
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context);
    const holds = await parley.useCase(ListHolds).execute({ realmId: realm.id, userId: null });
    return { lines: holds.map(lineOf), data: { holds: holds.map(presentHold) } };
  });
}

async function release(context: CommandContext): Promise<CommandResult> {
  const holdId = idOf('ID', context.word(0)) as HoldId;
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context);
    const hold = await parley.useCase(ReleaseHold).execute({ realmId: realm.id, userId: null }, { holdId });
    return {
      lines: [`Released hold ${hold.id} of ${nameOf(realm)}. The server deletes what waited for it within an hour.`],
      data: presentHold(hold),
    };
  });
}

async function exportHeld(context: CommandContext): Promise<CommandResult> {
  const holdId = idOf('ID', context.word(0)) as HoldId;
  const path = context.word(1);
  requireNewFile(path);
  context.terminal.comeAfterServer();
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context);
    await writeWhole(path, heldArchive(parley.useCase(HeldReader), { realmId: realm.id, holdId }));
    const { verifyHeld } = await import('@parley/export-files');
    const { entries, manifest } = await verifyHeld(path);
    return {
      lines: [
        `Exported hold ${holdId} of ${nameOf(realm)} to ${path}: ${counted(entries, 'file')}`,
        `SHA-256 of the manifest: ${manifest}`,
      ],
      data: { id: holdId, file: path, entries, manifest },
    };
  });
}

export const HOLD_COMMANDS: readonly Command[] = [
  {
    name: 'hold create',
    help: 'keeps messages with their edits and files whatever deletes them, unseen by members',
    details:
      'Messages must meet all given conditions. --person selects messages of the person and direct conversations with them, ' +
      '--channel also messages that were moved out of the channel. Later messages are held too.',
    flags: {
      ...REALM,
      reason: { value: 'TEXT', help: 'why, for example the number of a court case; required' },
      person: { value: 'ID_OR_EMAIL', help: 'only messages of this user and direct conversations with them' },
      channel: { value: 'NAME', help: 'only messages in this channel' },
      message: { value: 'ID', help: 'only this message' },
      since: { value: 'DATE', help: 'only messages sent at or after this time' },
      until: { value: 'DATE', help: 'only messages sent at or before this time' },
    },
    examples: [
      "parley hold create --person ann@example.com --reason 'Case 12'",
      "parley hold create --channel general --since 2026-01-01 --until 2026-06-30 --reason 'Audit of 2026'",
    ],
    run: create,
  },
  {
    name: 'hold list',
    help: 'lists the holds of an organization, with released ones',
    flags: REALM,
    examples: ['parley hold list', 'parley hold list --json'],
    isReadOnly: always,
    run: list,
  },
  {
    name: 'hold release',
    words: 'ID',
    help: 'ends a hold; purges and erasures that waited for it continue within an hour',
    flags: REALM,
    examples: ['parley hold release 3'],
    run: release,
  },
  {
    name: 'hold export',
    words: 'ID FILE',
    help: 'writes what a hold keeps to a ZIP file: lines of JSON, emails, files and their hashes',
    details:
      'The server may be running. The command prints the SHA-256 of the manifest. Note it elsewhere: with it, ' +
      'parley export verify proves that the file is unchanged.',
    flags: REALM,
    examples: ['parley hold export 3 case12.zip'],
    run: exportHeld,
  },
];
