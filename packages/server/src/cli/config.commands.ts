import { SETTINGS, type Setting, type SettingName } from '../configuration/settings.js';
import type { Command, CommandContext, CommandResult } from './command.js';

/** Reading the configuration has checked it already. */
async function check({ invocation }: CommandContext): Promise<CommandResult> {
  const set = [...invocation.sources].map(([name, source]) => {
    const { variable, flag, isSecret = false }: Setting<unknown> = SETTINGS[name as SettingName];
    const place = source === 'flag' ? `--${flag}` : source === 'file' ? `${variable}_FILE` : variable;
    return { place, source, value: isSecret ? null : invocation.values.get(name)! };
  });
  return {
    lines: [
      'The configuration is valid.',
      ...set.map(({ place, value }) => `  ${place}${value === null ? ' (hidden)' : `=${value}`}`),
      set.length === 0
        ? 'Nothing is set: everything is as parley --help says.'
        : 'Everything else is as parley --help says.',
    ],
    data: { valid: true, set },
  };
}

export const CONFIG_COMMANDS: readonly Command[] = [
  {
    name: 'config check',
    help: 'says what is wrong with the configuration, or what it comes to',
    details: 'Opens no database and changes nothing. What is secret is not shown.',
    examples: ['parley config check', 'PARLEY_PORT=80 parley config check --json'],
    run: check,
  },
];
