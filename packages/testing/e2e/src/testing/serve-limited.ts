import type { AddressInfo } from 'node:net';
import { createHttpServer, createParley, type TransportLimits } from '@parley/server';

/**
 * Script `serve-limited.js DATABASE LIMITS` that serves a database with limits that have no flags in `parley serve`.
 */
const [database, json] = process.argv.slice(2) as [string, string];
const limits = JSON.parse(json) as Partial<TransportLimits>;
/** Same as in `parley serve`, for thousands of concurrent connections. */
const BACKLOG = 4096;
const server = createHttpServer((request, response) => parley.handler(request, response), { limits });
await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0, backlog: BACKLOG }, resolve));
const url = `http://localhost:${(server.address() as AddressInfo).port}`;
// Load shedding is off, since a busy machine would make the server reject every request.
const options = { limits, rateLimits: false, shedsLoad: false };
const parley = await createParley({ database: `sqlite:${database}`, url, ...options });
process.once('SIGTERM', () => void parley.close().then(() => process.exit()));
console.log(`Parley is at ${url}`);
