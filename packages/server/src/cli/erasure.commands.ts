import { existsSync } from 'node:fs';
import { CopyErasuresToLedger, ReplayErasures } from '@parley/domain/membership';
import { FileErasureLedger, readLedger } from '../backup/erasure-ledger.js';
import { counted } from '../kernel/counted.js';
import { StartupError } from '../kernel/startup-error.js';
import { always, type Command, type CommandContext, type CommandResult } from './command.js';
import { nameOf } from './databases.js';
import { timeOf } from './user.commands.js';

async function list({ withParley }: CommandContext): Promise<CommandResult> {
  return withParley(async ({ ports: { unitOfWork } }) => {
    const realms = await unitOfWork.readAcross((reads) => reads.realms.list());
    const found = [];
    for (const realm of realms) {
      const erasures = await unitOfWork.read(realm.id, (reads) => reads.erasures.list(realm.id));
      for (const erasure of erasures) found.push({ realm, erasure });
    }
    return {
      lines: found.map(({ realm, erasure: { personId, requestedAt, endedAt, removedRows, changedTexts } }) => {
        const state = endedAt === null ? 'unfinished' : `ended ${timeOf(endedAt)}`;
        const counts = `${counted(removedRows, 'row')} deleted, ${counted(changedTexts, 'text')} changed`;
        return `${nameOf(realm)}, user ${personId}: requested ${timeOf(requestedAt)}, ${state}, ${counts}`;
      }),
      data: {
        erasures: found.map(({ realm, erasure: { realmId: _, ...erasure } }) => ({
          realm: realm.stringId,
          ...erasure,
        })),
      },
    };
  });
}

async function writeLedger({ withParley, word }: CommandContext): Promise<CommandResult> {
  const path = word(0);
  return withParley(async ({ ports: { unitOfWork } }) => {
    await new CopyErasuresToLedger(unitOfWork, new FileErasureLedger(path)).execute();
    const erasures = (await readLedger(path)).length;
    return { lines: [`${path} has ${counted(erasures, 'erasure')}.`], data: { path, erasures } };
  });
}

async function replay({ withParley, word }: CommandContext): Promise<CommandResult> {
  const path = word(0);
  if (!existsSync(path)) throw new StartupError(`${path} does not exist.`);
  const entries = await readLedger(path);
  return withParley(async ({ useCase }) => {
    const { repeated, withoutOwner } = await useCase(ReplayErasures).execute(entries);
    return {
      lines: [
        `Erased the identity of ${counted(repeated.length, 'person', 'people')} again. The server deletes the rest.`,
        ...withoutOwner.map(ownerMissing),
      ],
      data: { erasedAgain: repeated.length, withoutOwner: withoutOwner.map(({ stringId }) => stringId) },
    };
  });
}

/** Note about an organization whose last owner was erased by a replay. */
export const ownerMissing = (realm: Parameters<typeof nameOf>[0]): string =>
  `The last owner of ${nameOf(realm)} is erased. Choose another one: parley user set-role.`;

export const ERASURE_COMMANDS: readonly Command[] = [
  {
    name: 'erasure list',
    help: 'lists the erasures of people and their progress',
    details: 'A running server retries an unfinished erasure every hour; its log says why it fails.',
    examples: ['parley erasure list', 'parley erasure list --json'],
    isReadOnly: always,
    run: list,
  },
  {
    name: 'erasure ledger',
    words: 'FILE',
    help: 'adds all erasures to a ledger file: ids and times, no names',
    details:
      'Servers on SQLite keep such a file next to the database. On PostgreSQL, write one regularly and keep it apart from backups.',
    examples: ['parley erasure ledger /backups/parley.erasures'],
    run: writeLedger,
  },
  {
    name: 'erasure replay',
    words: 'FILE',
    help: 'repeats the erasures of a ledger in a restored database, before the first server starts',
    details: 'For PostgreSQL; parley restore does it itself. Run it before anybody is imported. It can be repeated.',
    examples: ['parley erasure replay /backups/parley.erasures'],
    run: replay,
  },
];
