import { startServer } from '../serve.js';
import type { Command } from './command.js';
import { acceptsNewSecret, NEW_DATABASE, requireDatabase } from './databases.js';

export const SERVE_COMMAND: Command = {
  name: 'serve',
  help: 'listens until it is told to stop',
  details: 'SIGTERM and SIGINT end it in good order: what has begun is answered first.',
  flags: NEW_DATABASE,
  examples: [
    'parley serve --url https://chat.example.com --trust-proxy loopback',
    'parley serve --demo --dev',
    'PARLEY_DATABASE=sqlite:/var/lib/parley/parley.db parley serve --new-database',
  ],
  async run({ invocation, terminal, isJson }) {
    // Listened for before anything starts: who stops it right away stops it in good order too.
    const interrupted = terminal.interrupted();
    const { configuration } = invocation;
    if (!configuration.isDemo) requireDatabase(invocation);
    const server = await startServer(configuration, acceptsNewSecret(invocation), (line) => {
      if (!isJson) terminal.out(line);
    });
    if (isJson) terminal.out(JSON.stringify({ url: server.url }));
    await interrupted;
    await server.stop();
    return undefined;
  },
};
