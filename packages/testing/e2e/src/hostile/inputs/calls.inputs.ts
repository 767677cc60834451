import { type Inputs, lengthened } from '../input-context.js';

export const INPUTS: Inputs = {
  'GET /calls/bigbluebutton/create': {
    'a long name': ({ n }) => ({ meeting_name: lengthened(`Meeting ${n} `, 512), voice_only: true }),
  },
  'GET /calls/bigbluebutton/join': {
    'a long name': async ({ n, get }) => {
      const name = encodeURIComponent(lengthened(`Meeting ${n} `, 512));
      const { url } = await get(`/calls/bigbluebutton/create?meeting_name=${name}`);
      return { bigbluebutton: new URL(String(url), 'http://localhost').searchParams.get('bigbluebutton') };
    },
  },
};
