import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Email } from '@parley/domain/access';
import { FixedClock } from '@parley/testkit';
import { DeliverableMailer, FileOutbox } from './email.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-outbox-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('removes emails to one address from the outbox', async () => {
  const outbox = new DeliverableMailer(new FileOutbox([join(folder, 'outbox')], 'chat@example.com', new FixedClock()));
  await outbox.removeTo('ann@example.com');
  const send = (to: string) =>
    outbox.send({ to, senderName: 'ann@example.com', subject: 'To: ann@example.com', text: 'text', html: '' } as Email);
  for (const to of ['Ann@example.com', 'joann@example.com', 'ann@example.com.au', `${'ann'.repeat(30)}@example.com`]) {
    await send(to);
  }
  await send('ann@example.com');
  await outbox.removeTo('ann@example.com');
  const left = readdirSync(join(folder, 'outbox')).map((name) => readFileSync(join(folder, 'outbox', name), 'utf8'));
  expect(left.map((email) => /^To:\s*(\S+)/m.exec(email)![1])).toEqual(
    expect.arrayContaining(['joann@example.com', 'ann@example.com.au', `${'ann'.repeat(30)}@example.com`]),
  );
  expect(left).toHaveLength(3);
});
