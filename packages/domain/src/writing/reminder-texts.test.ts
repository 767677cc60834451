import { aMessage, aUser, createFixture, FakeRenderer, fakeRealmUrls } from '@parley/testkit';
import { DomainError } from '../kernel/errors.js';
import { JobRunner } from '../kernel/jobs.js';
import { deleteMessages } from './deletion.js';
import { CreateReminder, RemoveTextFromReminders } from './reminders.use-cases.js';
import { SystemMessages } from './system-messages.js';

const NOTE = 'a <note>';
const CONTENT = `You requested a reminder for a message that has been deleted. Note:\n > ${NOTE}`;
const RENDERED = CONTENT.replaceAll('>', '&gt;').replaceAll('<', '&lt;');

/** Removes the text of a deleted message from a reminder while `broken` throws an error during rendering. */
async function remove(broken: 'parse' | 'parseNow' | 'render', error: Error) {
  const fixture = await createFixture(
    aUser({ name: 'reader' }),
    aUser({ name: 'writer' }),
    aMessage({ from: 'writer', to: ['reader'], content: 'deleted words' }),
  );
  const { uow, clock } = fixture;
  const { id: realmId } = fixture.realm;
  const renderer = new FakeRenderer();
  const messages = new SystemMessages(renderer, fakeRealmUrls, clock);
  const [message] = fixture.messages;
  const caller = fixture.caller('reader');
  const create = new CreateReminder(uow, messages, fakeRealmUrls, clock);
  const id = await create.execute(caller, { messageId: message!.id, dueAt: clock.now() + 100_000, note: NOTE });
  await uow.write(realmId, (tx) =>
    deleteMessages(tx, { realmId, deletedBy: null, deletedAt: clock.now(), channel: null, messages: [message!] }),
  );
  Object.assign(renderer, {
    [broken]: () => {
      throw error;
    },
  });
  const problems: unknown[] = [];
  const job = new RemoveTextFromReminders(uow, messages);
  const runner = new JobRunner(job, { uow, clock, report: (problem) => void problems.push(problem) });
  await runner.run();
  clock.advance(10);
  await runner.run();
  return { problems, reminder: await uow.read(realmId, ({ reminders }) => reminders.find(realmId, id)) };
}

describe('RemoveTextFromReminders', () => {
  it.each(['parse', 'parseNow', 'render'] as const)('shows the note as plain text if %s rejects it', async (broken) => {
    const { problems, reminder } = await remove(broken, new DomainError('UNRENDERABLE_CONTENT', 'no'));
    expect(reminder).toMatchObject({ content: CONTENT, renderedContent: `<p>${RENDERED}</p>` });
    expect(problems).toEqual([]);
  });

  it.each(['parse', 'parseNow', 'render'] as const)(
    'shows the note as plain text in the second attempt if %s fails unexpectedly',
    async (broken) => {
      const { problems, reminder } = await remove(broken, new Error('broken'));
      expect(reminder).toMatchObject({ content: CONTENT, renderedContent: `<p>${RENDERED}</p>` });
      expect(problems).toHaveLength(1);
    },
  );
});
