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
import type { ComposedParley } from '../composition/parley.js';
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
import { findRealm, findUser, nameOf, REALM } from './databases.js';
import { firstLines, keptLines, MAX_LINES } from './listed-lines.js';
import { progressOn } from './progress.js';

const presentBatch = ({ id, source, startedAt, status, createdRealm, messages }: ImportBatch) => ({
  ...{ id, source, status, createdOrganization: createdRealm, messages },
  startedAt: new Date(startedAt * 1000).toISOString(),
});

async function list(context: CommandContext): Promise<CommandResult> {
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context);
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
  });
}

/** @throws UsageError */
function batchIdOf({ words }: CommandContext): ImportBatchId {
  const id = Number(words[0]);
  if (!Number.isSafeInteger(id)) throw new UsageError('BATCH must be a number; see parley imports list.');
  return id as ImportBatchId;
}

async function undo(context: CommandContext): Promise<CommandResult> {
  const batchId = batchIdOf(context);
  return context.withParley(async (parley) => {
    const realm = await findRealm(parley, context);
    const isDryRun = context.isOn('dry-run');
    const undone = await parley.useCase(UndoImport).execute({
      realmId: realm.id,
      batchId,
      isForced: context.isOn('force'),
      isDryRun,
      onProgress: progressOn(context.terminal, 'Removed'),
    });
    const lines = [
      ...undoLines(undone, isDryRun, nameOf(realm)),
      ...(await membershipLines(parley.ports.unitOfWork, realm.id, undone, isDryRun)),
    ];
    return { lines, data: undone };
  });
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
  context: CommandContext,
  parley: ComposedParley,
  opened: OpenImport,
  use: (plan: ImportPlan, realmId: RealmId) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { planImport } = await import('@parley/import-plan');
  const { temporaryFolderOf } = await import('./import-records.js');
  const { markdownRenderer: renderer, clock } = parley.ports;
  const { id: realmId, stringId } = await findRealm(parley, context);
  const sources = { renderer, unicodeEmoji, mappings: [], temporaryFolder: temporaryFolderOf(context) };
  const plan = await planImport(opened, { ...sources, stringId, realmUrl: '', now: clock.now() });
  try {
    return await use(plan, realmId);
  } finally {
    plan.close();
  }
}

/** @throws StartupError */
async function readerOf(context: CommandContext, path: string): Promise<ImportReader> {
  if (!existsSync(path)) throw new StartupError(`${path} does not exist.`);
  const { archiveReader, findReader } = await import('./import-records.js');
  const reader = await findReader(path);
  const archives = archiveReader(context);
  if (!reader && (await archives.recognizes(path))) return archives;
  if (!reader) throw new StartupError(`${path} is not an export.`);
  return reader;
}

async function verify(context: CommandContext): Promise<CommandResult> {
  const batchId = batchIdOf(context);
  const path = context.word(1);
  const reader = await readerOf(context, path);
  const { addedReaders } = await import('@parley/import-plan');
  context.terminal.comeAfterServer();
  return context.withParley(async (parley) => {
    const opened = await reader.open(path);
    try {
      return await withPlan(context, parley, opened, async (plan, realmId) => {
        const { records } = plan;
        const verified = await parley.useCase(VerifyImport).execute({ realmId, batchId, records });
        const { unitOfWork } = parley.ports;
        const added = await addedReaders(
          plan,
          { realmId, batchIds: verified.batchIds },
          unitOfWork,
          parley.useCase(RealmReader),
        );
        const { unchanged, differences } = verified;
        return {
          lines: [`Unchanged: ${unchanged} records`, ...differences.map(differenceLine), ...accessLines(added)],
          data: { unchanged, differences, addedReaders: added },
          exitCode: differences.length === 0 && added.length === 0 ? EXIT_CODES.done : EXIT_CODES.found,
        };
      });
    } finally {
      await opened.close();
    }
  });
}

async function addFiles(context: CommandContext): Promise<CommandResult> {
  const batchId = batchIdOf(context);
  const path = context.word(1);
  if (context.flag('download') === undefined) throw new UsageError('--download is missing.');
  const reader = await readerOf(context, path);
  const { readToken, withDownloads } = await import('./import-records.js');
  const token = readToken(context, reader);
  return context.withParley(async (parley) => {
    const opened = await withDownloads(context, reader, await reader.open(path), token);
    try {
      return await withPlan(context, parley, opened, async (plan, realmId) => {
        const input = { realmId, batchId, source: plan.summary.source, messages: plan.lateMessages() };
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
    } finally {
      await opened.close();
    }
  });
}

async function merge(context: CommandContext): Promise<CommandResult> {
  return context.withParley(async (parley) => {
    const { realm, placeholder } = await placeholderOf(parley, context);
    const isDryRun = context.isOn('dry-run');
    const user = await findUser(parley, realm, context.word(1));
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
  });
}

async function unmerge(context: CommandContext): Promise<CommandResult> {
  return context.withParley(async (parley) => {
    const { realm, placeholder } = await placeholderOf(parley, context);
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
  });
}

async function placeholderOf(parley: ComposedParley, context: CommandContext) {
  const realm = await findRealm(parley, context);
  return { realm, placeholder: await findUser(parley, realm, context.word(0)) };
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
  {
    name: 'imports list',
    help: 'lists the imports into an organization',
    details: 'Archives of Parley and Zulip that became an organization are not listed.',
    flags: REALM,
    examples: ['parley imports list --realm=acme'],
    isReadOnly: always,
    run: list,
  },
  {
    name: 'imports verify',
    words: 'BATCH FILE',
    help: 'compares an import with an export of the same source',
    details:
      'Lists records that only one of them has, that differ, or that people changed in Parley since, and people who ' +
      'can read imported conversations but could not in the source. Changes nothing. Exits with code 3 if something ' +
      'differs. The server may be running.',
    flags: REALM,
    examples: ['parley imports verify 1 slack-export.zip --realm=acme'],
    run: verify,
  },
  {
    name: 'imports files',
    words: 'BATCH FILE',
    help: 'downloads files that an import lacks and adds them to its messages',
    details:
      'FILE is the export of the import, or a newer one. Messages contain a note for each file that could not be ' +
      'downloaded; a link to the file replaces it. Messages that people edited since keep the note. A killed command ' +
      'continues when it is repeated. The server may be running.',
    flags: { ...REALM, ...DOWNLOAD },
    examples: ['parley imports files 1 slack-export.zip --realm=acme --download=files --token-file=token.txt'],
    run: addFiles,
  },
  {
    name: 'imports merge',
    words: 'PLACEHOLDER USER',
    help: "gives a placeholder's messages to a user",
    details:
      'PLACEHOLDER and USER are numbers or addresses of parley user list --deactivated, which also lists placeholders. The ' +
      'user gets the messages, reactions and direct conversations, and is subscribed to the channels of the placeholder, ' +
      'which the command lists. A killed command continues when it is repeated. Repeat it after later imports, too. The ' +
      'server may be running.',
    flags: { ...REALM, 'dry-run': { help: 'changes nothing and reports what the user would get' } },
    examples: ['parley imports merge 17 ann@acme.example --realm=acme --dry-run'],
    run: merge,
  },
  {
    name: 'imports unmerge',
    words: 'PLACEHOLDER',
    help: 'reverts parley imports merge',
    details:
      'Returns messages, reactions, subscriptions and direct conversations to the placeholder. The server may be running.',
    flags: REALM,
    examples: ['parley imports unmerge 17 --realm=acme'],
    run: unmerge,
  },
  {
    name: 'imports undo',
    words: 'BATCH',
    help: 'removes the messages of an import',
    details:
      'BATCH is a number of parley imports list. Messages that people answered, edited, moved or reacted to are listed ' +
      'and kept; a topic or direct conversation is answered by any later message. Channels without messages are ' +
      'archived. Members whom the import added or removed are put back. People, groups and the organization stay. A killed command continues when it is repeated. The server ' +
      'may be running.',
    flags: {
      ...REALM,
      force: { help: 'also removes messages that people answered, edited, moved or reacted to' },
      'dry-run': { help: 'changes nothing and reports what would be removed' },
    },
    examples: ['parley imports undo 1 --realm=acme --dry-run', 'parley imports undo 1 --realm=acme'],
    run: undo,
  },
];
