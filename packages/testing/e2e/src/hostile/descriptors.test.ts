import { connect, type Socket } from 'node:net';
import { send } from '../conformance/request.js';
import { ParleyProcess } from '../testing/parley-process.js';
import { pause } from '../testing/pause.js';
import { TestOrganization } from '../testing/test-organization.js';

const DESCRIPTORS = 160;
const SILENT_CONNECTIONS = 400;
/** Time limit for serving a new client. */
const PATIENCE_MS = 120_000;

it('serves a new client within two minutes although silent connections exhausted the file descriptors', async () => {
  const organization = new TestOrganization();
  const database = `--database=sqlite:${organization.database}`;
  // The load monitor reads the process memory, which needs a descriptor.
  const server = await ParleyProcess.start(['--port=0', database, '--shed-load=on', '--dev', '--demo'], {
    maxDescriptors: DESCRIPTORS,
  });
  const sockets = Array.from({ length: SILENT_CONNECTIONS }, (): Socket => {
    const socket = connect(Number(server.port), '127.0.0.1');
    return socket.on('error', () => {});
  });
  try {
    const status = async () => {
      const request = { method: 'GET', url: `${server.url}/api/v1/server_settings`, headers: {}, body: null };
      return send(request).then(
        (answer) => answer.status,
        () => null,
      );
    };
    await pause(2000);
    const endsAt = Date.now() + PATIENCE_MS;
    let served = await status();
    while (served !== 200 && Date.now() < endsAt) {
      await pause(500);
      served = await status();
    }
    expect([server.isRunning, served]).toEqual([true, 200]);
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.kill();
    await organization.close();
  }
});
