import type { Inputs } from '../input-context.js';

export const INPUTS: Inputs = {
  'GET /json/realm/subdomain/:subdomain': { 'a name': ({ n }) => ({ subdomain: `free-${n}` }) },
};
