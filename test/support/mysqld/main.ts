import { Unavailable } from '../cluster/requirements.ts';
import { fetchMysql } from './mysqld.ts';

// `make mysql`: the real servers that tests and `make reality` start. Without them these tests say what they lack.

try {
  await fetchMysql();
} catch (error) {
  if (!(error instanceof Unavailable)) throw error;
  console.error(error.message);
}
