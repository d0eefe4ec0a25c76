// For functions of both the host and the device.
#pragma once

#ifdef __CUDACC__
#define WINNOW_HOST_DEVICE __host__ __device__
#else
#define WINNOW_HOST_DEVICE
#endif
