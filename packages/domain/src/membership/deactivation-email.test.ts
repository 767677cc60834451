import { aUser, createFixture, FakeMailer, fakeRealmUrls, inEnglish } from '@parley/testkit';
import { decodeJob } from '../kernel/jobs.js';
import { DeactivateUser, ReactivateUser } from './deactivation.use-cases.js';
import { DEACTIVATION_EMAIL, DeactivationEmails, MAX_DEACTIVATION_COMMENT_LENGTH } from './deactivation-email.js';

async function deactivated(comment?: string) {
  const fixture = await createFixture(aUser({ name: 'iago', role: 'administrator' }), aUser({ name: 'hamlet' }));
  const { uow, clock, user, caller } = fixture;
  const input = { userId: user('hamlet').id, ...(comment !== undefined && { comment }) };
  await new DeactivateUser(uow, clock).execute(caller('iago'), input);
  const mailer = new FakeMailer();
  const emails = new DeactivationEmails(mailer, inEnglish, uow, fakeRealmUrls);
  const selection = { kind: DEACTIVATION_EMAIL.name, maxFormat: DEACTIVATION_EMAIL.format };
  const deliver = async () => {
    const due = await uow.readAcross((r) => r.jobs.listDue(selection, clock.now(), 10));
    for (const job of due) await emails.prepare(decodeJob(DEACTIVATION_EMAIL, job));
    return mailer.emails;
  };
  return { fixture, deliver };
}

it('names the acting administrator and includes the comment', async () => {
  const { deliver } = await deactivated('  <b>Thank you</b>  ');
  const [email, ...others] = await deliver();
  expect(others).toEqual([]);
  expect(email).toMatchObject({ to: 'hamlet@example.com', subject: expect.stringContaining('deactivated') });
  expect(email!.text).toContain('iago has deactivated your account');
  expect(email!.text).toContain('\n<b>Thank you</b>\n');
  expect(email!.html).toContain('&lt;b&gt;Thank you&lt;/b&gt;');
});

it.each(['\u0001', '"', '\\', '🎭', '\n'])(
  'accepts a comment of maximum length that consists of %j',
  async (character) => {
    const { deliver } = await deactivated(character.repeat(MAX_DEACTIVATION_COMMENT_LENGTH));
    expect(await deliver()).toHaveLength(1);
  },
);

it('omits the comment section for an empty comment and sends no email without a comment', async () => {
  const { deliver } = await deactivated('');
  expect((await deliver())[0]!.text).not.toContain('Comment');
  expect(await (await deactivated()).deliver()).toEqual([]);
});

it('sends no email to a user who was reactivated in the meantime', async () => {
  const { fixture, deliver } = await deactivated('');
  const { uow, clock, user, caller } = fixture;
  await new ReactivateUser(uow, clock).execute(caller('iago'), user('hamlet').id);
  expect(await deliver()).toEqual([]);
});
