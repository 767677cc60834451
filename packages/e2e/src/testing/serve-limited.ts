import type { AddressInfo } from 'node:net';
import { createHttpServer, createParley, type TransportLimits } from '@parley/server';

/** A script: `serve-limited.js DATABASE LIMITS` serves a database file with limits that `parley serve` has no flags for. */
const [database, json] = process.argv.slice(2) as [string, string];
const limits = JSON.parse(json) as Partial<TransportLimits>;
/** As `parley serve` has it: thousands connect at once. */
const BACKLOG = 4096;
const server = createHttpServer((request, response) => parley.handler(request, response), { limits });
await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0, backlog: BACKLOG }, resolve));
const url = `http://localhost:${(server.address() as AddressInfo).port}`;
// Slow readers are what is tried here; a machine that others use as well would have it refuse everybody.
const options = { limits, rateLimits: false, shedsLoad: false };
const parley = await createParley({ database: `sqlite:${database}`, url, ...options });
process.once('SIGTERM', () => void parley.close().then(() => process.exit()));
console.log(`Parley is at ${url}`);
