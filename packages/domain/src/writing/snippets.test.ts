import { aUser, createFixture, eventsWithReceivers, expectRefused } from '@parley/testkit';
import { MAX_KEPT_TEXT_BYTES } from '../kernel/text.js';
import { ChangeSnippet, CreateSnippet, DeleteSnippet, ListSnippets, MAX_SNIPPETS } from './snippets.js';

const town = async () => {
  const fixture = await createFixture(aUser({ name: 'Hamlet' }), aUser({ name: 'Iago' }));
  const { uow, clock } = fixture;
  return {
    fixture,
    hamlet: fixture.caller('Hamlet'),
    iago: fixture.caller('Iago'),
    create: new CreateSnippet(uow, clock),
    change: new ChangeSnippet(uow),
    remove: new DeleteSnippet(uow),
    list: new ListSnippets(uow),
  };
};

it('saved snippets are added, changed and removed for their owner alone', async () => {
  const { fixture, hamlet, iago, create, change, remove, list } = await town();
  const id = await create.execute(hamlet, { title: 'Hi', content: 'Dear all' });
  await change.execute(hamlet, { id, title: 'Bye', content: null });
  expect(await list.execute(hamlet)).toMatchObject([{ id, title: 'Bye', content: 'Dear all' }]);
  expect(await list.execute(iago)).toEqual([]);
  await remove.execute(hamlet, { id });
  expect(await list.execute(hamlet)).toEqual([]);
  expect(await eventsWithReceivers(fixture)).toEqual([
    ['snippet.added', ['Hamlet']],
    ['snippet.changed', ['Hamlet']],
    ['snippet.removed', ['Hamlet']],
  ]);
});

it('a change of a saved snippet without values publishes nothing', async () => {
  const { fixture, hamlet, create, change } = await town();
  const id = await create.execute(hamlet, { title: 'Hi', content: '' });
  await change.execute(hamlet, { id, title: null, content: null });
  expect(await eventsWithReceivers(fixture)).toEqual([['snippet.added', ['Hamlet']]]);
});

it("another user's saved snippet is unknown", async () => {
  const { fixture, hamlet, iago, create, change, remove } = await town();
  const id = await create.execute(hamlet, { title: 'Hi', content: '' });
  const unknown = { code: 'UNKNOWN_SNIPPET', message: 'Saved snippet does not exist.' };
  await expectRefused(fixture, () => change.execute(iago, { id, title: 'Mine', content: null }), unknown);
  await expectRefused(fixture, () => remove.execute(iago, { id }), unknown);
});

it('a user keeps at most 1000 saved snippets', async () => {
  const { fixture, hamlet, create } = await town();
  for (let n = 0; n < MAX_SNIPPETS; n++) await create.execute(hamlet, { title: `${n}`, content: '' });
  await expectRefused(fixture, () => create.execute(hamlet, { title: 'more', content: '' }), {
    message: 'Too many saved snippets (limit: 1000).',
  });
});

it('the texts of saved snippets may shrink, but not grow beyond the limit', async () => {
  const { fixture, hamlet, create, change } = await town();
  const id = await create.execute(hamlet, { title: 'all', content: 'x'.repeat(MAX_KEPT_TEXT_BYTES) });
  const tooLong = { code: 'TOO_MANY_SNIPPETS', message: 'Too much text in saved snippets (limit: 2000000 bytes).' };
  await expectRefused(fixture, () => create.execute(hamlet, { title: 'more', content: 'y' }), tooLong);
  await change.execute(hamlet, { id, title: null, content: 'x' });
  await create.execute(hamlet, { title: 'more', content: 'y' });
});
