declare module 'express4' {
  import type express from 'express';

  const express4: typeof express;
  export default express4;
}
