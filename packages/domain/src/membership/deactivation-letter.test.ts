import { aUser, createFixture, FakeMailer, fakeRealmUrls } from '@parley/testkit';
import { decodeJob } from '../kernel/jobs.js';
import { DEACTIVATION_LETTER_JOB, DeactivationLetters, MAX_DEACTIVATION_COMMENT_LENGTH } from './deactivation.js';
import { DeactivateUser, ReactivateUser } from './deactivation.use-cases.js';

async function deactivated(comment?: string) {
  const fixture = await createFixture(aUser({ name: 'iago', role: 'administrator' }), aUser({ name: 'hamlet' }));
  const { uow, clock, user, caller } = fixture;
  const input = { userId: user('hamlet').id, ...(comment !== undefined && { comment }) };
  await new DeactivateUser(uow, clock).execute(caller('iago'), input);
  const mailer = new FakeMailer();
  const letters = new DeactivationLetters(mailer, uow, fakeRealmUrls);
  const selection = { kind: DEACTIVATION_LETTER_JOB.name, maxFormat: DEACTIVATION_LETTER_JOB.format };
  const deliver = async () => {
    const due = await uow.read((r) => r.jobs.listDue(selection, clock.now(), 10));
    for (const job of due) await letters.prepare(decodeJob(DEACTIVATION_LETTER_JOB, job));
    return mailer.letters;
  };
  return { fixture, deliver };
}

it('says who deactivated the account, and what they add', async () => {
  const { deliver } = await deactivated('  <b>Thank you</b>  ');
  const [letter, ...others] = await deliver();
  expect(others).toEqual([]);
  expect(letter).toMatchObject({ to: 'hamlet@example.com', subject: expect.stringContaining('deactivated') });
  expect(letter!.text).toContain('iago has deactivated your account');
  expect(letter!.text).toContain('\n<b>Thank you</b>\n');
  expect(letter!.html).toContain('&lt;b&gt;Thank you&lt;/b&gt;');
});

it.each(['\u0001', '"', '\\', '🎭', '\n'])('takes as long a comment of %j as there may be', async (character) => {
  const { deliver } = await deactivated(character.repeat(MAX_DEACTIVATION_COMMENT_LENGTH));
  expect(await deliver()).toHaveLength(1);
});

it('has nothing to add to an empty comment, and is not sent without one', async () => {
  const { deliver } = await deactivated('');
  expect((await deliver())[0]!.text).not.toContain('adds');
  expect(await (await deactivated()).deliver()).toEqual([]);
});

it('is not sent to somebody who is back', async () => {
  const { fixture, deliver } = await deactivated('');
  const { uow, clock, user, caller } = fixture;
  await new ReactivateUser(uow, clock).execute(caller('iago'), user('hamlet').id);
  expect(await deliver()).toEqual([]);
});
