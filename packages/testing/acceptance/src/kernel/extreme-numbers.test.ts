import { ForgetInvitations, SendInvitationEmails } from '@parley/domain/membership';
import { ExpireMessages } from '@parley/domain/writing';
import { openQueue } from '../testing/event-queues.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { organizationPerTest } from '../testing/servers.js';

const { server, people } = organizationPerTest({ sendsMail: false });

/** Limits of 32-bit integers and exact doubles; as days, the values exceed the range of dates. */
const NUMBERS = [2 ** 31, Number.MAX_SAFE_INTEGER];

describe.each(NUMBERS)('duration of %i in any unit', (number) => {
  it('applies to retention, editing, moving and deleting without errors', async () => {
    const { desdemona, hamlet } = people;
    for (const name of [
      'message_retention_days',
      'message_content_edit_limit_seconds',
      'message_content_delete_limit_seconds',
      'move_messages_within_stream_limit_seconds',
      'move_messages_between_streams_limit_seconds',
    ]) {
      fieldsOf(await server.patch('/realm', desdemona, { [name]: number }));
    }
    const own = await server.createChannel('own', [hamlet], { message_retention_days: number });
    const ids = [
      await server.sendMessage(hamlet, own),
      await server.sendMessage(hamlet, own),
      await server.sendMessage(hamlet, [people.iago]),
    ];
    server.clock.advance(1000);
    expect(await server.parley.useCase(ExpireMessages).execute()).toBe(0);
    fieldsOf(await server.patch(`/messages/${ids[0]}`, hamlet, { content: 'later' }));
    fieldsOf(await server.patch(`/messages/${ids[0]}`, hamlet, { topic: 'other', propagate_mode: 'change_one' }));
    fieldsOf(await server.delete(`/messages/${ids[1]}`, desdemona));
    const snapshot = fieldsOf(await server.post('/register', hamlet)) as Wire;
    expect(snapshot).toMatchObject({
      realm_message_retention_days: number,
      realm_message_content_edit_limit_seconds: number,
    });
    expect(snapshot.subscriptions).toContainEqual(
      expect.objectContaining({ stream_id: own, message_retention_days: number }),
    );
  });

  it('gives an invitation an unlimited or elapsed lifetime', async () => {
    const { desdemona } = people;
    for (const minutes of [number, -number]) {
      const params = { invite_expires_in_minutes: minutes };
      fieldsOf(await server.post('/invites/multiuse', desdemona, params));
      const invitee = { ...params, invitee_emails: `p${minutes}@example.com`, stream_ids: [] };
      fieldsOf(await server.post('/invites', desdemona, invitee));
    }
    await openQueue(server, desdemona);
    const { invites } = fieldsOf(await server.get('/invites', desdemona)) as Wire;
    expect(invites).toHaveLength(2);
    for (const { expiry_date } of invites) {
      expect(Number.isSafeInteger(expiry_date)).toBe(true);
      expect(new Date(expiry_date * 1000).toISOString()).toMatch(/^[+\d]/);
    }
    await runJobs(server, server.parley.useCase(SendInvitationEmails));
    await runJobs(server, server.parley.useCase(ForgetInvitations));
    expect((fieldsOf(await server.get('/invites', desdemona)) as Wire).invites).toHaveLength(2);
    for (const { id, is_multiuse } of invites) {
      fieldsOf(await server.delete(`/invites/${is_multiuse ? 'multiuse/' : ''}${id}`, desdemona));
    }
  });

  it('returns only existing presence', async () => {
    const params = { status: 'active', last_update_id: number, history_limit_days: number };
    fieldsOf(await server.post('/users/me/presence', people.hamlet, params));
  });
});
