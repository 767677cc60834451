import type { Inputs } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /realm/domains': { 'a domain': ({ n }) => ({ domain: `d${n}.example.com`, allow_subdomains: true }) },
};
