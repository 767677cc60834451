import { join } from 'node:path';
import { commandsOf } from './commands.js';

const commands = commandsOf(join(__dirname, '../../../../..'));

it('finds the scripts of the repository and the commands of its documents', () => {
  expect(commands).toEqual(expect.arrayContaining(['npm start', 'npm test', 'npm run typecheck', '.ci/run']));
});

it('finds no command that is not a script', () => {
  const scripts = Object.keys(require('../../../../../package.json').scripts);
  const named = commands
    .filter((command) => command !== '.ci/run')
    .map((command) => command.replace(/^npm (run )?/, ''));
  expect(named.filter((name) => !scripts.includes(name))).toEqual([]);
});
