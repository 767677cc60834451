import { CONTRACT_OPERATIONS, contractPathOf } from './openapi/contract-operations.js';

it.each([
  ['/api/v1/scheduled_messages/7', '/scheduled_messages/:scheduled_message_id'],
  ['/api/v1/scheduled_messages/soon', undefined],
  ['/api/v1/users/me', '/users/me'],
  ['/api/v1/users/7', '/users/:user_id'],
  ['/api/v1/users/ann@private.example', '/users/:email'],
  ['/api/v1/users/me/subscriptions/muted_topics', '/users/me/subscriptions/muted_topics'],
  ['/api/v1/user_uploads/2/ab/cat.png', '/user_uploads/:realm_id/*filename'],
  ['/api/v1/navigation_views/narrow/is/starred', '/navigation_views/*fragment'],
  ['/api/v1/messages/', undefined],
  ['/api/v1/nothing', undefined],
  ['/api/v1', undefined],
  ['/avatar/7', undefined],
])('maps the request path %s to the contract path %s', (requestPath, path) => {
  expect(contractPathOf(requestPath)).toBe(path);
});

it('lists each operation once', () => {
  const names = CONTRACT_OPERATIONS.map(({ method, path, atRoot }) => `${method} ${atRoot ? '/' : ''}${path}`);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

it('marks the twenty required operations', () => {
  expect(CONTRACT_OPERATIONS.filter(({ isStarred }) => isStarred)).toHaveLength(20);
});
