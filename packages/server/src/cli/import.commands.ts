import { existsSync } from 'node:fs';
import type { ImportBatch } from '@parley/domain/exports';
import type { ImportBatchId, RealmId, UnitOfWork } from '@parley/domain/kernel';
import type { AddedReader, ImportPlan } from '@parley/import-plan';
import { unicodeEmoji } from '@parley/markdown';
import { RealmReader } from '@parley/transfer/exports';
import {
  AddImportedFiles,
  type DifferenceLine,
  MergePlaceholder,
  UndoImport,
  type UndoImportOutput,
  UnmergePlaceholder,
  VerifyImport,
} from '@parley/transfer/imports';
import { type ImportReader, type OpenImport, printable } from '@parley/transfer/records';
import { counted } from '../kernel/counted.js';
import { StartupError, UsageError } from '../kernel/startup-error.js';
import {
  always,
  type Command,
  type CommandContext,
  type CommandFlag,
  type CommandResult,
  EXIT_CODES,
} from './command.js';
import { findUser, nameOf, type OnRealm, realmCommand } from './command-subjects.js';
import { firstLines, keptLines, MAX_LINES, timeOf } from './listed-lines.js';
import { progressOn } from './progress.js';

const presentBatch = ({ id, source, startedAt, status, createdRealm, messages }: ImportBatch) => ({
  ...{ id, source, status, createdOrganization: createdRealm, messages },
  startedAt: timeOf(startedAt),
});

/** @throws UsageError */
function batchIdOf({ words }: CommandContext): ImportBatchId {
  const id = Number(words[0]);
  if (!Number.isSafeInteger(id)) throw new UsageError('BATCH must be a number; see parley imports list.');
  return id as ImportBatchId;
}

function undoLines(undone: UndoImportOutput, isDryRun: boolean, realm: string): readonly string[] {
  const { removed, kept, archivedChannels } = undone;
  return [
    `${isDryRun ? 'Would remove' : 'Removed'} ${counted(removed, 'message')} from ${realm}`,
    ...(isDryRun ? [] : [`Archived ${counted(archivedChannels, 'channel')} without messages`]),
    ...(kept === 0 ? [] : [`Messages that people used since the import, which --force removes: ${kept}`]),
    ...keptLines(undone),
  ];
}

async function membershipLines(
  uow: UnitOfWork,
  realmId: RealmId,
  { memberships, revertedMemberships: reverted }: UndoImportOutput,
  isDryRun: boolean,
): Promise<readonly string[]> {
  if (memberships === 0) return [];
  const listed = reverted.slice(0, MAX_LINES);
  const [people, places, groupPlaces] = await uow.read(realmId, async ({ users, channels, groups }) => {
    const userIds = new Set(listed.map(({ userId }) => userId));
    const channelIds = new Set(listed.flatMap(({ channelId }) => channelId ?? []));
    const groupIds = new Set(listed.flatMap(({ groupId }) => groupId ?? []));
    return [
      await users.list(realmId, [...userIds]),
      await channels.list(realmId, [...channelIds]),
      await groups.list(realmId, [...groupIds]),
    ] as const;
  });
  const names = new Map(people.map(({ id, fullName }) => [id, fullName]));
  const channelNames = new Map(places.map(({ id, name }) => [id, name]));
  const groupNames = new Map(groupPlaces.map(({ id, name }) => [id, name]));
  const lineOf = ({ channelId, groupId, userId, isMember }: (typeof listed)[number]) => {
    const place = channelId === null ? groupNames.get(groupId!) : channelNames.get(channelId);
    return `  ${printable(place ?? '')}: ${isMember ? '+' : '-'} ${printable(names.get(userId) ?? '')}`;
  };
  return [
    `${isDryRun ? 'Members to put back' : 'Members put back'}: ${memberships} (+ added, - removed)`,
    ...firstLines(listed, lineOf, memberships),
  ];
}

/** Plans the import of an export again, to compare it with an earlier import. */
async function withPlan(
  { parley, realm, ...context }: OnRealm,
  opened: OpenImport,
  use: (plan: ImportPlan) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { planImport } = await import('@parley/import-plan');
  const { temporaryFolderOf } = await import('./import-records.js');
  const { markdownRenderer: renderer, clock } = parley.ports;
  try {
    const sources = { renderer, unicodeEmoji, mappings: [], temporaryFolder: temporaryFolderOf(context) };
    const plan = await planImport(opened, { ...sources, stringId: realm.stringId, realmUrl: '', now: clock.now() });
    try {
      return await use(plan);
    } finally {
      plan.close();
    }
  } finally {
    await opened.close();
  }
}

/** @throws StartupError */
async function readerOf(context: CommandContext): Promise<ImportReader> {
  const path = context.word(1);
  if (!existsSync(path)) throw new StartupError(`${path} does not exist.`);
  const { archiveReader, findReader } = await import('./import-records.js');
  const reader = await findReader(path);
  const archives = archiveReader(context);
  if (!reader && (await archives.recognizes(path))) return archives;
  if (!reader) throw new StartupError(`${path} is not an export.`);
  return reader;
}

const differenceLine = ({ kind, difference, count, examples }: DifferenceLine): string =>
  `  ${kind}: ${count} ${difference} (for example ${examples.map(printable).join(', ')})`;

function accessLines(added: readonly AddedReader[]): readonly string[] {
  if (added.length === 0) return ['Nobody can read more imported conversations than in the source.'];
  return [
    'People who can read imported conversations now, but could not in the source:',
    ...firstLines(
      added,
      ({ userId, person, channel }) => `  ${userId} (${person}): ${channel ?? 'direct conversation'}`,
    ),
  ];
}

export const DOWNLOAD: Readonly<Record<string, CommandFlag>> = {
  download: {
    value: 'FOLDER',
    help: 'downloads files that the export contains only as URLs to a folder, which later imports reuse',
  },
  'token-file': { value: 'FILE', help: 'file with the access token for these downloads (Slack, Teams)' },
};

export const IMPORT_COMMANDS: readonly Command[] = [
  realmCommand({
    name: 'imports list',
    help: 'lists the imports into an organization',
    details: 'Archives of Parley and Zulip that became an organization are not listed.',
    examples: ['parley imports list --realm=acme'],
    isReadOnly: always,
    async run({ parley, realm }) {
      const batches = await parley.ports.unitOfWork.read(realm.id, (reads) => reads.importBatches.list(realm.id));
      const presented = batches.map(presentBatch);
      return {
        lines:
          presented.length === 0
            ? [`${nameOf(realm)} has no imports.`]
            : presented.map(
                ({ id, startedAt, source, status, messages }) =>
                  `${id}\t${startedAt}\t${printable(source)}\t${status}\t${counted(messages, 'message')}`,
              ),
        data: { imports: presented },
      };
    },
  }),
  realmCommand({
    name: 'imports verify',
    words: 'BATCH FILE',
    help: 'compares an import with an export of the same source',
    details:
      'Lists records that only one of them has, that differ, or that people changed in Parley since, and people who ' +
      'can read imported conversations but could not in the source. Changes nothing. Exits with code 3 if something ' +
      'differs. The server may be running.',
    examples: ['parley imports verify 1 slack-export.zip --realm=acme'],
    async input(context) {
      const batchId = batchIdOf(context);
      const reader = await readerOf(context);
      context.terminal.comeAfterServer();
      return { batchId, reader };
    },
    async run(context, { batchId, reader }) {
      const { parley, realm, word } = context;
      const { addedReaders } = await import('@parley/import-plan');
      return withPlan(context, await reader.open(word(1)), async (plan) => {
        const { records } = plan;
        const input = { realmId: realm.id, batchId, records };
        const { batchIds, unchanged, differences } = await parley.useCase(VerifyImport).execute(input);
        const batches = { realmId: realm.id, batchIds };
        const added = await addedReaders(plan, batches, parley.ports.unitOfWork, parley.useCase(RealmReader));
        return {
          lines: [`Unchanged: ${unchanged} records`, ...differences.map(differenceLine), ...accessLines(added)],
          data: { unchanged, differences, addedReaders: added },
          exitCode: differences.length === 0 && added.length === 0 ? EXIT_CODES.done : EXIT_CODES.found,
        };
      });
    },
  }),
  realmCommand({
    name: 'imports files',
    words: 'BATCH FILE',
    help: 'downloads files that an import lacks and adds them to its messages',
    details:
      'FILE is the export of the import, or a newer one. Messages contain a note for each file that could not be ' +
      'downloaded; a link to the file replaces it. Messages that people edited since keep the note. A killed command ' +
      'continues when it is repeated. The server may be running.',
    flags: DOWNLOAD,
    examples: ['parley imports files 1 slack-export.zip --realm=acme --download=files --token-file=token.txt'],
    async input(context) {
      const batchId = batchIdOf(context);
      if (context.flag('download') === undefined) throw new UsageError('--download is missing.');
      const reader = await readerOf(context);
      const { readToken } = await import('./import-records.js');
      return { batchId, reader, token: readToken(context, reader) };
    },
    async run(context, { batchId, reader, token }) {
      const { parley, realm, word } = context;
      const { withDownloads } = await import('./import-records.js');
      const opened = await withDownloads(context, reader, await reader.open(word(1)), token);
      return withPlan(context, opened, async (plan) => {
        const input = { realmId: realm.id, batchId, source: plan.summary.source, messages: plan.lateMessages() };
        const added = await parley.useCase(AddImportedFiles).execute(input);
        const { files, messages, kept } = added;
        return {
          lines: [
            `Added ${counted(files, 'file')} to ${counted(messages, 'message')}`,
            ...(kept === 0 ? [] : [`Messages that people edited or deleted since the import, without files: ${kept}`]),
          ],
          data: added,
        };
      });
    },
  }),
  realmCommand({
    name: 'imports merge',
    words: 'PLACEHOLDER USER',
    help: "gives a placeholder's messages to a user",
    details:
      'PLACEHOLDER and USER are numbers or addresses of parley user list --deactivated, which also lists placeholders. The ' +
      'user gets the messages, reactions and direct conversations, and is subscribed to the channels of the placeholder, ' +
      'which the command lists. A killed command continues when it is repeated. Repeat it after later imports, too. The ' +
      'server may be running.',
    flags: { 'dry-run': { help: 'changes nothing and reports what the user would get' } },
    examples: ['parley imports merge 17 ann@acme.example --realm=acme --dry-run'],
    async run({ parley, realm, isOn, word }) {
      const placeholder = await findUser(parley, realm, word(0));
      const isDryRun = isOn('dry-run');
      const user = await findUser(parley, realm, word(1));
      const input = { realmId: realm.id, placeholderId: placeholder.id, userId: user.id, isDryRun };
      const merged = await parley.useCase(MergePlaceholder).execute(input);
      const { messages, reactions, directMessages, channels } = merged;
      return {
        lines: [
          `${isDryRun ? 'Would give' : 'Gave'} ${counted(messages, 'message')} and ${counted(reactions, 'reaction')} of user ${placeholder.id} to ${user.email}`,
          ...(directMessages === 0
            ? []
            : [`Messages in direct conversations that ${user.email} takes part in by the merge: ${directMessages}`]),
          ...(channels.length === 0 ? [] : [`Channels that ${user.email} is subscribed to by the merge:`]),
          ...channels.map(({ name, isPrivate }) => `  ${printable(name)}${isPrivate ? ' (private)' : ''}`),
        ],
        data: merged,
      };
    },
  }),
  realmCommand({
    name: 'imports unmerge',
    words: 'PLACEHOLDER',
    help: 'reverts parley imports merge',
    details:
      'Returns messages, reactions, subscriptions and direct conversations to the placeholder. The server may be running.',
    examples: ['parley imports unmerge 17 --realm=acme'],
    async run({ parley, realm, word }) {
      const placeholder = await findUser(parley, realm, word(0));
      const input = { realmId: realm.id, placeholderId: placeholder.id };
      const unmerged = await parley.useCase(UnmergePlaceholder).execute(input);
      const { messages, reactions, directMessages } = unmerged;
      return {
        lines: [
          `Returned ${counted(messages, 'message')} and ${counted(reactions, 'reaction')} to user ${placeholder.id}`,
          ...(directMessages === 0
            ? []
            : [`Messages in direct conversations of user ${placeholder.id}: ${directMessages}`]),
        ],
        data: unmerged,
      };
    },
  }),
  realmCommand({
    name: 'imports undo',
    words: 'BATCH',
    help: 'removes the messages of an import',
    details:
      'BATCH is a number of parley imports list. Messages that people answered, edited, moved or reacted to are listed ' +
      'and kept; a topic or direct conversation is answered by any later message. Channels without messages are ' +
      'archived. Members whom the import added or removed are put back. People, groups and the organization stay. A killed command continues when it is repeated. The server ' +
      'may be running.',
    flags: {
      force: { help: 'also removes messages that people answered, edited, moved or reacted to' },
      'dry-run': { help: 'changes nothing and reports what would be removed' },
    },
    examples: ['parley imports undo 1 --realm=acme --dry-run', 'parley imports undo 1 --realm=acme'],
    input: batchIdOf,
    async run({ parley, realm, isOn, terminal }, batchId) {
      const isDryRun = isOn('dry-run');
      const undone = await parley.useCase(UndoImport).execute({
        realmId: realm.id,
        batchId,
        isForced: isOn('force'),
        isDryRun,
        onProgress: progressOn(terminal, 'Removed'),
      });
      const lines = [
        ...undoLines(undone, isDryRun, nameOf(realm)),
        ...(await membershipLines(parley.ports.unitOfWork, realm.id, undone, isDryRun)),
      ];
      return { lines, data: undone };
    },
  }),
];
