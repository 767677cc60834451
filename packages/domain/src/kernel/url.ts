import { isLongerThan } from './text.js';

const MAX_LENGTH = 2000;
/** A scheme that browsers follow, a host of labels (or a number in brackets, or `localhost`), and no white space after it. */
const URL_FORM =
  /^(?:https?|ftps?):\/\/(?:[^\s/?#@]*@)?(?:\[[\da-f:.]+\]|localhost|(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}][\p{L}\p{N}-]{0,61}[\p{L}\p{N}]\.?|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?(?:[/?#]\S*)?$/iu;

/** Whether a text can be followed as a link: absolute, with a host, at most 2,000 code points. */
export const isUrl = (text: string): boolean => !isLongerThan(text, MAX_LENGTH) && URL_FORM.test(text);
