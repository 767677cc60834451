import { requestText } from './requests.js';

it('requestText encodes a form like a browser', () => {
  const text = requestText({
    method: 'POST',
    path: '/api/v1/messages',
    authorization: 'Basic eDp5',
    form: { topic: 'lunch & tea' },
  });
  expect(text.split('\r\n')).toEqual([
    'POST /api/v1/messages HTTP/1.1',
    'Host: localhost',
    'User-Agent: parley-bench',
    'Authorization: Basic eDp5',
    'Content-Type: application/x-www-form-urlencoded',
    'Content-Length: 19',
    '',
    'topic=lunch+%26+tea',
  ]);
});
