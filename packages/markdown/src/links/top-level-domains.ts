import { domainToASCII } from 'node:url';
import { lazily } from '../lazy.js';

/** More often the end of a file's name. */
const FILE_EXTENSIONS = ['java', 'md', 'mov', 'py', 'zip'];

const all = lazily((require) => {
  const domains = new Set((require('tlds') as string[]).map((domain) => domainToASCII(domain)));
  for (const extension of FILE_EXTENSIONS) domains.delete(extension);
  return domains;
});

/** In lower case, and international ones in their ASCII form. */
export const isTopLevelDomain = (label: string) => all().has(label);
