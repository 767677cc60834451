import { SweepFiles } from '@parley/domain/files';
import type { Command, CommandContext, CommandResult } from './command.js';

async function sweep({ invocation, isOn, withParley }: CommandContext): Promise<CommandResult> {
  return withParley(async ({ useCase }) => {
    const isDryRun = isOn('dry-run');
    const keepDetachedSeconds = invocation.configuration.keepDeletedDays * 86_400;
    const swept = await useCase(SweepFiles).execute({ keepDetachedSeconds, isDryRun });
    const what = `${swept.files} files, ${swept.uploads} unfinished uploads and ${swept.blobs} blobs`;
    const line = isDryRun ? `Would remove ${what} (files and uploads are counted up to 500)` : `Removed ${what}`;
    return { lines: [line], data: { ...swept, isDryRun } };
  });
}

export const FILE_COMMANDS: readonly Command[] = [
  {
    name: 'file sweep',
    help: 'removes now what the server removes by and by: files that nobody needs, and bytes that belong to nothing',
    flags: { 'dry-run': { help: 'only says how many there are' } },
    examples: ['parley file sweep --dry-run'],
    run: sweep,
  },
];
