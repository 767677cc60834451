import type { ParleyClient } from '@parley/client';
import { fetchData } from './host-data.js';

function clientOf(get: jest.Mock): ParleyClient {
  return { get } as Partial<ParleyClient> as ParleyClient;
}

const answer = (_: string, { object_ids }: { object_ids: readonly number[] }) =>
  Promise.resolve({
    objects: object_ids.filter((id) => id !== 8).map((id) => ({ object_id: id, data: { id }, version: 1 })),
  });

describe('fetchData', () => {
  it('fetches objects of a kind that are read in the same task by one request', async () => {
    const get = jest.fn(answer);
    const client = clientOf(get);
    const found = await Promise.all([7, 8, 7].map((id) => fetchData(client, 'channel', id)));
    expect(found).toEqual([{ id: 7 }, {}, { id: 7 }]);
    expect(get.mock.calls).toEqual([['/application_data', { object_type: 'channel', object_ids: [7, 8] }]]);
    await fetchData(client, 'channel', 7);
    expect(get).toHaveBeenCalledTimes(2);
  });

  it('fetches kinds separately, and at most 100 objects per request', async () => {
    const get = jest.fn(answer);
    const client = clientOf(get);
    const ids = Array.from({ length: 150 }, (_, n) => n + 100);
    const found = await Promise.all([
      fetchData(client, 'user', 7),
      ...ids.map((id) => fetchData(client, 'channel', id)),
    ]);
    expect(found).toEqual([7, ...ids].map((id) => ({ id })));
    expect(get.mock.calls.map(([, { object_ids }]) => object_ids.length).sort()).toEqual([1, 100, 50]);
  });

  it('fetches again after a failure', async () => {
    const get = jest.fn().mockRejectedValueOnce(new Error('offline')).mockImplementation(answer);
    const client = clientOf(get);
    await expect(fetchData(client, 'channel', 7)).rejects.toThrow('offline');
    expect(await fetchData(client, 'channel', 7)).toEqual({ id: 7 });
  });
});
