import { expect, it } from '@jest/globals';
it('runs', () => expect(1).toBe(1));
