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
import { always, type Command, type CommandContext, idOf, timeIn } from './command.js';
import { channelIn, nameOf, realmCommand } from './command-subjects.js';
import { newFile } from './export.commands.js';
import { timeOf } from './listed-lines.js';

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

export const HOLD_COMMANDS: readonly Command[] = [
  realmCommand({
    name: 'hold create',
    help: 'keeps messages with their edits and files whatever deletes them, unseen by members',
    details:
      'Messages must meet all given conditions. --person selects messages of the person and direct conversations with them, ' +
      '--channel also messages that were moved out of the channel. Later messages are held too.',
    flags: {
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
    input(context) {
      const reason = context.flag('reason');
      if (reason === undefined) throw new UsageError('--reason TEXT is required.');
      const message = context.flag('message');
      return {
        reason,
        messageId: message === undefined ? null : (idOf('--message', message) as MessageId),
        since: timeIn(context, 'since'),
        until: timeIn(context, 'until'),
      };
    },
    async run({ parley, realm, ...context }, input) {
      const personId = await personIn(parley, context, realm.id);
      const channelId = await channelIn(parley, context, realm);
      const by = { realmId: realm.id, userId: null };
      const hold = await parley.useCase(CreateHold).execute(by, { ...input, personId, channelId });
      return { lines: [`Created hold ${hold.id} in ${nameOf(realm)}`], data: presentHold(hold) };
    },
  }),
  realmCommand({
    name: 'hold list',
    help: 'lists the holds of an organization, with released ones',
    examples: ['parley hold list', 'parley hold list --json'],
    isReadOnly: always,
    async run({ parley, realm }) {
      const holds = await parley.useCase(ListHolds).execute({ realmId: realm.id, userId: null });
      return { lines: holds.map(lineOf), data: { holds: holds.map(presentHold) } };
    },
  }),
  realmCommand({
    name: 'hold release',
    words: 'ID',
    help: 'ends a hold; purges and erasures that waited for it continue within an hour',
    examples: ['parley hold release 3'],
    input: ({ word }) => idOf('ID', word(0)) as HoldId,
    async run({ parley, realm }, holdId) {
      const hold = await parley.useCase(ReleaseHold).execute({ realmId: realm.id, userId: null }, { holdId });
      return {
        lines: [`Released hold ${hold.id} of ${nameOf(realm)}. The server deletes what waited for it within an hour.`],
        data: presentHold(hold),
      };
    },
  }),
  realmCommand({
    name: 'hold export',
    words: 'ID FILE',
    help: 'writes what a hold keeps to a ZIP file: lines of JSON, emails, files and their hashes',
    details:
      'The server may be running. The command prints the SHA-256 of the manifest. Note it elsewhere: with it, ' +
      'parley export verify proves that the file is unchanged.',
    examples: ['parley hold export 3 case12.zip'],
    input: (context) => ({ holdId: idOf('ID', context.word(0)) as HoldId, path: newFile(context, 1) }),
    async run({ parley, realm }, { holdId, path }) {
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
    },
  }),
];
