import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connect, TestOrganization } from './testing/test-organization.js';

describe('backup of a running server', () => {
  let organization: TestOrganization;
  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
  });
  afterAll(() => organization.close());

  it('contains every message acknowledged before it started and restores elsewhere with the same keys', async () => {
    const desdemona = await organization.addPerson('Desdemona', 'owner');
    const server = await organization.serve();
    const client = await connect(server, desdemona);
    await client.users.me.subscriptions.add({ subscriptions: [{ name: 'rampart' }] });
    const acknowledged: number[] = [];
    let isDone = false;
    const speak = async (author: number) => {
      for (let n = 0; !isDone; n++) {
        const message = { type: 'stream', to: 'rampart', topic: 'the watch', content: `${author}, ${n}` };
        const { id } = (await client.messages.send(message)) as unknown as { readonly id: number };
        acknowledged.push(id);
      }
    };
    const speaking = [1, 2, 3, 4].map(speak);
    while (acknowledged.length < 200) await new Promise((resolve) => setTimeout(resolve, 20));
    const before = [...acknowledged];
    const archive = join(organization.directory, 'backup.tar');
    const backup = await organization.run(['backup', archive, '--json']);
    isDone = true;
    await Promise.all(speaking);
    expect(backup).toMatchObject({ code: 0, err: '' });
    expect(acknowledged.length).toBeGreaterThan(before.length);

    const folder = join(organization.directory, 'elsewhere');
    mkdirSync(folder);
    const database = `--database=sqlite:${join(folder, 'parley.db')}`;
    expect(await organization.run(['restore', archive, database])).toMatchObject({ code: 0, err: '' });
    expect(await organization.run(['doctor', '--thorough', database])).toMatchObject({ code: 0 });
    const restored = await connect(await organization.serve([database]), desdemona);
    const found = new Set<number>();
    for (let anchor: number | 'oldest' = 'oldest'; ; ) {
      const page = (await restored.messages.retrieve({
        anchor,
        num_before: 0,
        num_after: 1000,
        narrow: [{ operator: 'channel', operand: 'rampart' }],
      })) as unknown as { readonly messages: readonly { readonly id: number }[]; readonly found_newest: boolean };
      for (const { id } of page.messages) found.add(id);
      if (page.found_newest) break;
      anchor = page.messages.at(-1)!.id;
    }
    expect(before.filter((id) => !found.has(id))).toEqual([]);
  });
});
