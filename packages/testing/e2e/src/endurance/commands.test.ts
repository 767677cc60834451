import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandsOf } from './commands.js';

const root = join(__dirname, '../../../../..');
const commands = commandsOf(root);

it('commands for new clones include the scripts of the repository and the commands of its documents', () => {
  expect(commands).toEqual(expect.arrayContaining(['npm start', 'npm test', 'npm run typecheck', '.ci/run']));
});

it('commands for new clones are scripts of the repository', () => {
  const scripts = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts);
  const named = commands
    .filter((command) => command !== '.ci/run')
    .map((command) => command.replace(/^npm (run )?/, ''));
  expect(named.filter((name) => !scripts.includes(name))).toEqual([]);
});
